/* What is measured goes before what only happens to run on the same machine. */
#ifndef EMU_LIVE_PREFER_H
#define EMU_LIVE_PREFER_H

/* Puts the calling process into a session of its own and gives that more of the processors than others get, as far as it may. System
 * calls only: for use between fork() and exec(). */
void prefer_this_session(void);

#endif
