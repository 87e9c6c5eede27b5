/* Message sizes against numbers added up by hand from RFC 5531 and RFC 1813. */
#include "emu/model/nfs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void sizes(void **state)
{
    (void)state;
    /* Mark 4, xid to procedure 24, AUTH_SYS 8 + 32, verifier 8 = 76. */
    assert_int_equal(NFS_CALL_HEADER, 76);
    assert_int_equal(NFS_REPLY_HEADER, 28);
    assert_int_equal(NFS_ATTRIBUTES, 84);
    assert_int_equal(nfs_call_bytes(NFS_READ, 65536), 76 + 48);
    assert_int_equal(nfs_call_bytes(NFS_WRITE, 65536), 76 + 56 + 65536);
    assert_int_equal(nfs_call_bytes(NFS_WRITE, 65537), 76 + 56 + 65540);
    assert_int_equal(nfs_call_bytes(NFS_COMMIT, 0), 76 + 48);
    assert_int_equal(nfs_call_bytes(NFS_GETATTR, 0), 76 + 36);
    assert_int_equal(nfs_reply_bytes(NFS_READ, 65536), 28 + 104 + 65536);
    assert_int_equal(nfs_reply_bytes(NFS_WRITE, 65536), 28 + 136);
    assert_int_equal(nfs_reply_bytes(NFS_COMMIT, 0), 28 + 128);
    assert_int_equal(nfs_reply_bytes(NFS_GETATTR, 0), 28 + 88);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
