/** Whoever started this process: their end is noticed, so that a throw-away instance does not outlive a killed test runner. */
import { fstatSync } from 'node:fs';

const LOOK_EVERY_MS = 250;

/** How an end shows. */
export type StarterEnd = 'the process that started it ended' | 'its standard input was closed';

export interface Starter {
  /** From now on an end is told, at most once; one that came since the start, at once. */
  onEnd(tell: (how: StarterEnd) => void): void;
}

/**
 * To be called first thing: what is to end must have been there. A pipe as standard input is read, and what comes is
 * thrown away; one that is closed before anybody listens was held by nobody, as `/dev/null` is, and means nothing.
 */
export function watchStarter(): Starter {
  const parent = process.ppid;
  let input: 'none' | 'open' | 'closed' = 'none';
  let tellClosed = () => {};
  if (isInputPipe()) {
    input = 'open';
    const close = () => {
      input = 'closed';
      tellClosed();
    };
    process.stdin.on('end', close).on('error', close).resume();
    // A start that fails ends the process all the same.
    process.stdin.unref();
  }

  return {
    onEnd(tell) {
      let isTold = false;
      const tellOnce = (how: StarterEnd) => {
        if (isTold) return;
        isTold = true;
        clearInterval(looking);
        tell(how);
      };
      const look = () => {
        if (isGone(parent)) tellOnce('the process that started it ended');
      };
      const looking = setInterval(look, LOOK_EVERY_MS);
      if (input === 'open') tellClosed = () => tellOnce('its standard input was closed');
      look();
    },
  };
}

/** A runner's own end of a pair of sockets counts as well: that is what most runtimes make for a child. */
function isInputPipe(): boolean {
  try {
    const input = fstatSync(0);
    return input.isFIFO() || input.isSocket();
  } catch {
    // It was closed from the start.
    return false;
  }
}

/** An orphan gets another parent; where processes keep the number of theirs, it is looked for. */
function isGone(parent: number): boolean {
  if (process.platform !== 'win32') return process.ppid !== parent;
  try {
    process.kill(parent, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
