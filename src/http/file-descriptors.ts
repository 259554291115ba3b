/**
 * Watches for exhausted file descriptors and then closes idle connections, which hold them: without a free one, no
 * client can connect and no file can be opened.
 */
import { closeSync, openSync } from 'node:fs';
import type { Logger } from 'pino';

const LOOK_EVERY_MS = 250;
/** Interval at which the error is repeated. */
const SAY_EVERY_MS = 60_000;
const NONE_LEFT = ['EMFILE', 'ENFILE'];

export interface DescriptorOptions {
  readonly log: Logger;
  /** Closes connections without a request; returns how many. */
  readonly shed: () => number;
  /** Opens one descriptor for a moment. @throws where none is left. */
  readonly probe?: () => void;
}

/** Checks every 250 ms until disposed. */
export function watchDescriptors({ log, shed, probe = probeFile }: DescriptorOptions): Disposable {
  let saidAt = -Infinity;
  let closed = 0;

  function look(): void {
    if (isLeft(probe)) {
      if (saidAt > -Infinity) log.info({ closedConnections: closed }, 'file descriptors are available again');
      saidAt = -Infinity;
      closed = 0;
      return;
    }
    closed += shed();
    if (performance.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = performance.now();
    log.error(
      { closedConnections: closed },
      'no file descriptors are left: idle connections are closed and new ones wait; allow more (ulimit -n, LimitNOFILE)',
    );
  }

  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function isLeft(probe: () => void): boolean {
  try {
    probe();
    return true;
  } catch (error) {
    return !NONE_LEFT.includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

function probeFile(): void {
  closeSync(openSync('/dev/null', 'r'));
}
