/** Changes many users in batches and collects each result. */
import { api, ask, type Failure, type Outcome, type Schemas } from '../../api.ts';
import { counted } from '../../components/format.ts';
import type { UserAction } from './statuses.ts';

const MAX_USERS = 200;

export interface UserResult {
  readonly userId: string;
  readonly outcome: Schemas['ChangeOutcome'];
  readonly message?: string | undefined;
}

export interface GrantsOfKind {
  readonly add?: string[];
  readonly remove?: string[];
}

export interface GrantsChange {
  readonly roles?: GrantsOfKind;
  readonly scopes?: GrantsOfKind;
  readonly memberships?: GrantsOfKind;
}

/** @param reason '' for none. */
export function changeStatuses(
  id: string,
  userIds: readonly string[],
  action: UserAction,
  reason: string,
): Promise<Outcome<UserResult[]>> {
  const why = reason.trim() === '' ? {} : { reason: reason.trim() };
  return inCalls(userIds, (some) =>
    ask(
      api.POST('/api/applications/{id}/users/actions', {
        params: { path: { id } },
        body: { action, userIds: some, ...why },
      }),
    ),
  );
}

export function changeGrants(
  id: string,
  userIds: readonly string[],
  change: GrantsChange,
): Promise<Outcome<UserResult[]>> {
  return inCalls(userIds, (some) =>
    ask(
      api.POST('/api/applications/{id}/users/grants', { params: { path: { id } }, body: { userIds: some, ...change } }),
    ),
  );
}

/** If a later batch fails, its users and the remaining ones are reported as refused, unchanged. */
async function inCalls(
  userIds: readonly string[],
  call: (some: string[]) => Promise<Outcome<{ readonly results: readonly UserResult[] }>>,
): Promise<Outcome<UserResult[]>> {
  const results: UserResult[] = [];
  let failure: Failure | null = null;
  for (let from = 0; from < userIds.length; from += MAX_USERS) {
    const some = userIds.slice(from, from + MAX_USERS);
    const outcome: Failure | Awaited<ReturnType<typeof call>> = failure ?? (await call(some));
    if (outcome.ok) results.push(...outcome.data.results);
    else if (from === 0) return outcome;
    else {
      failure = outcome;
      results.push(...some.map((userId) => ({ userId, outcome: 'refused' as const, message: failure?.message })));
    }
  }
  return { ok: true, data: results };
}

export const leftOut = (results: readonly UserResult[]) =>
  results.filter(({ outcome }) => outcome === 'refused' || outcome === 'not_found');

/** Returns "3 people banned, 1 unchanged, 2 refused." */
export function summaryOf(results: readonly UserResult[], done: string): string {
  const amount = (...outcomes: UserResult['outcome'][]) =>
    results.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const unchanged = amount('unchanged');
  const refused = amount('refused');
  const missing = amount('not_found');
  const parts = [
    `${counted(amount('changed'), 'person', 'people')} ${done}`,
    unchanged > 0 && `${unchanged} unchanged`,
    refused > 0 && `${refused} refused`,
    missing > 0 && `${missing} no longer here`,
  ];
  return `${parts.filter(Boolean).join(', ')}.`;
}
