/** Whether what is printed may be coloured. */
import type { Environment } from '../config.ts';

/** On a terminal that shows colours, where nobody has asked for none (https://no-color.org: set and not empty). */
export function isColoured(isTerminal: boolean, environment: Environment): boolean {
  return isTerminal && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
}
