/** Detects the end of the parent process, so that an ephemeral instance does not outlive a killed test runner. */
import { fstatSync } from 'node:fs';

const POLL_MS = 250;

export type ParentEnd = 'the process that started it ended' | 'its standard input was closed';

export interface ParentWatch {
  /** Registers a listener called at most once; immediately if the parent ended since the start. */
  onEnd(listener: (how: ParentEnd) => void): void;
}

/**
 * Must be called first, while the parent still exists. Reads a piped stdin and discards its data.
 * A stdin that closes before `onEnd` is called (such as /dev/null) is ignored.
 */
export function watchParent(): ParentWatch {
  const parent = process.ppid;
  let input: 'none' | 'open' | 'closed' = 'none';
  let notifyClosed = () => {};
  if (isInputPipe()) {
    input = 'open';
    const close = () => {
      input = 'closed';
      notifyClosed();
    };
    process.stdin.on('end', close).on('error', close).resume();
    // Unreferenced, so that a failed start can end the process.
    process.stdin.unref();
  }

  return {
    onEnd(listener) {
      let isNotified = false;
      const notifyOnce = (how: ParentEnd) => {
        if (isNotified) return;
        isNotified = true;
        clearInterval(looking);
        listener(how);
      };
      const look = () => {
        if (isGone(parent)) notifyOnce('the process that started it ended');
      };
      const looking = setInterval(look, POLL_MS);
      if (input === 'open') notifyClosed = () => notifyOnce('its standard input was closed');
      look();
    },
  };
}

/** Accepts a socket too: most runtimes create a socket pair for a child's stdin. */
function isInputPipe(): boolean {
  try {
    const input = fstatSync(0);
    return input.isFIFO() || input.isSocket();
  } catch {
    return false;
  }
}

/** Detects a new parent by its id. Windows keeps the old id, so there the process itself is looked up. */
function isGone(parent: number): boolean {
  if (process.platform !== 'win32') return process.ppid !== parent;
  try {
    process.kill(parent, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
