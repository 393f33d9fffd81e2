//! Copies of this process: a device that has booted is there again in milliseconds, with everything that it has, and
//! another future. There is one thread only, so nothing is lost by a fork.

/// Makes a copy of this process, which ends with this one. Returns the copy's number, or `None` in the copy. The error
/// is a one-line message for the user.
pub fn forked() -> Result<Option<i32>, String> {
    // SAFETY: ended copies are reaped by the system; this process has no other child whose end matters (benches with
    // models in Python are not copied), and no other thread.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        let parent = libc::getpid();
        match libc::fork() {
            0 => {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid() != parent {
                    libc::_exit(1);
                }
                Ok(None)
            }
            -1 => Err(format!(
                "no copy of the emulator can be made: {}",
                std::io::Error::last_os_error()
            )),
            pid => Ok(Some(pid)),
        }
    }
}

/// Ends a copy.
pub fn exit() -> ! {
    // SAFETY: nothing is to be written any more.
    unsafe { libc::_exit(0) }
}
