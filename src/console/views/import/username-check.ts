/** Checks which usernames of a file are available; changes nothing. */
import { usernameProblem } from '../../../core/username.ts';
import { api, ask, type Outcome } from '../../api.ts';
import { pause, WAIT_SECONDS } from '../../read-all.ts';

const CALL_NAMES = 500;

/** Results by the name as written in the file. */
export type UsernameVerdict = 'available' | 'taken' | 'reserved' | 'format_invalid';
export type UsernameVerdicts = ReadonlyMap<string, UsernameVerdict>;

/** @param onProgress receives the number checked. @returns partial results when stopped. */
export async function checkUsernames(
  applicationId: string,
  names: readonly string[],
  onProgress: (done: number) => void,
  signal: AbortSignal,
): Promise<Outcome<UsernameVerdicts>> {
  const verdicts = new Map<string, UsernameVerdict>();
  let done = 0;
  while (done < names.length) {
    const usernames = names.slice(done, done + CALL_NAMES);
    const outcome = await ask(
      api.POST('/api/applications/{id}/usernames/check', {
        params: { path: { id: applicationId } },
        body: { usernames },
      }),
    );
    if (outcome.ok) {
      for (const { input, username, status } of outcome.data.results)
        verdicts.set(input, usernameProblem(username) === 'reserved' ? 'reserved' : status);
      done += usernames.length;
      onProgress(done);
    } else if (outcome.status === 429) await pause(outcome.retryAfterSeconds ?? WAIT_SECONDS, signal);
    else return outcome;
    if (signal.aborted) break;
  }
  return { ok: true, data: verdicts };
}
