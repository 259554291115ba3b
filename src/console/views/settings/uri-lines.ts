/** Lists of addresses that are edited as text, one per line. */
import type { Failure, Outcome } from '../../api.ts';

export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

export const quoted = (uris: readonly string[]) => uris.map((uri) => `“${uri}”`).join(', ');

/**
 * Replaces the server's index within a list by the address itself, and gathers what it says of one list.
 * @param lists the sent lists, by their names in the body.
 */
export function nameEntries<T>(outcome: Outcome<T>, lists: Readonly<Record<string, readonly string[]>>): Outcome<T> {
  if (outcome.ok) return outcome;
  const said = new Map<string, string[]>();
  const say = (path: string, message: string) => said.set(path, [...(said.get(path) ?? []), message]);
  for (const { path, message } of outcome.fields) {
    const [, list = '', index] = /^(\w+)\.(\d+)$/.exec(path) ?? [];
    const uri = lists[list]?.[Number(index)];
    if (uri === undefined) say(path, message);
    else say(list, `${quoted([uri])}: ${message}`);
  }
  const fields: Failure['fields'] = [...said].map(([path, messages]) => ({ path, message: messages.join(' ') }));
  return { ...outcome, fields };
}
