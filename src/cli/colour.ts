import type { Environment } from '../config.ts';

/** Allows colour on a capable terminal unless NO_COLOR is set and not empty (https://no-color.org). */
export function isColoured(isTerminal: boolean, environment: Environment): boolean {
  return isTerminal && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
}
