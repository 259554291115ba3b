/**
 * Looks whether file descriptors are left. Clients that hold connections can use them up; then nobody else comes in, and
 * what needs a file or a connection of its own fails. Connections without a request are closed to make room.
 */
import { closeSync, openSync } from 'node:fs';
import type { Logger } from 'pino';

const LOOK_EVERY_MS = 250;
/** Said again while it lasts. */
const SAY_EVERY_MS = 60_000;
const NONE_LEFT = ['EMFILE', 'ENFILE'];

export interface DescriptorOptions {
  readonly log: Logger;
  /** Closes connections that have no request; how many they were. */
  readonly shed: () => number;
  /** Uses one descriptor more for a moment. @throws where there is none. */
  readonly probe?: () => void;
}

/** Looks every quarter of a second, until it is disposed of. */
export function watchDescriptors({ log, shed, probe = probeFile }: DescriptorOptions): Disposable {
  let saidAt = -Infinity;
  let closed = 0;

  function look(): void {
    if (isLeft(probe)) {
      if (saidAt > -Infinity) log.info({ closedConnections: closed }, 'file descriptors are left again');
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
