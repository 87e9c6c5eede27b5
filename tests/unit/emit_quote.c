/* Names in the formats, against what their readers' manuals say: sh(1), fstab(5), systemd.unit(5), YAML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "nfsbal/emit/quote.h"

static void same(void (*quote)(FILE *, const char *), const char *text, const char *expected)
{
    char *got = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&got, &size);
    assert_non_null(f);
    quote(f, text);
    fclose(f);
    assert_string_equal(got, expected);
    free(got);
}

static void shell(void **state)
{
    (void)state;
    same(quote_shell, "nas-1.example:/vol/a_b", "nas-1.example:/vol/a_b");
    same(quote_shell, "", "''");
    same(quote_shell, "a b", "'a b'");
    same(quote_shell, "it's", "'it'\\''s'");
    same(quote_shell, "$HOME`x`\"\\", "'$HOME`x`\"\\'");
    same(quote_shell, "gr\xc3\xbcn", "'gr\xc3\xbcn'");
    same(quote_shell, "~x", "'~x'");
    same(quote_shell, "*", "'*'");
}

static void powershell(void **state)
{
    (void)state;
    same(quote_powershell, "$a%", "'$a%'");
    same(quote_powershell, "it's", "'it''s'");
    same(quote_powershell, "a\xe2\x80\x99z", "'a\xe2\x80\x99\xe2\x80\x99z'");
    same(quote_powershell, "a\xe2\x80\x9cz", "'a\xe2\x80\x9cz'");
    same(quote_powershell, "a\xe2\x80", "'a\xe2\x80'");
}

static void fstab(void **state)
{
    (void)state;
    same(quote_fstab, "/a b\\c#", "/a\\040b\\134c\\043");
    same(quote_fstab, "/gr\xc3\xbcn%$'", "/gr\xc3\xbcn%$'");
}

static void units(void **state)
{
    (void)state;
    same(quote_unit, "100 %i", "100 %%i");
    same(quote_unit_name, "/mnt/a-b c", "mnt-a\\x2db\\x20c");
    same(quote_unit_name, "/mnt/.x", "mnt-.x");
    same(quote_unit_name, "/.x", "\\x2ex");
    same(quote_unit_name, "/\xc3\xbc", "\\xc3\\xbc");
}

static void ansible(void **state)
{
    (void)state;
    same(quote_ansible, "it's: #1", "'it''s: #1'");
    same(quote_ansible, "{{ x }}", "!unsafe '{{ x }}'");
    same(quote_ansible, "{% x", "!unsafe '{% x'");
}

static void control(void **state)
{
    (void)state;
    assert_true(quote_possible("gr\xc3\xbcn 'x' \"y\" $z %"));
    assert_false(quote_possible("a\nb"));
    assert_false(quote_possible("a\rb"));
    assert_false(quote_possible("a\tb"));
    assert_false(quote_possible("a\x7f"));
}

static void others(void **state)
{
    (void)state;
    same(quote_hcl, "a\"b\\c ${x} %{y} $z %", "\"a\\\"b\\\\c $${x} %%{y} $z %\"");
    same(quote_xml, "it's <a> & \"b\"", "it&apos;s &lt;a&gt; &amp; \"b\"");
    same(quote_yaml, "it's {{ x }} # $", "'it''s {{ x }} # $'");
    same(quote_autofs_key, "/mnt/a-b.c", "/mnt/a-b.c");
    same(quote_autofs_key, "/mnt/gr\xc3\xbcn b\\s", "\"/mnt/gr\xc3\xbcn b\\s\"");
    same(quote_autofs, "n:/a b\\c\"d'e$f&g#h", "n:/a\\ b\\\\c\\\"d\\'e\\$f\\&g\\#h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shell),   cmocka_unit_test(powershell), cmocka_unit_test(fstab),  cmocka_unit_test(units),
        cmocka_unit_test(ansible), cmocka_unit_test(control),    cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
