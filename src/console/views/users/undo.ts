/** Undoes a change of chosen users, from what the list showed of them before it. */
import type { Outcome } from '../../api.ts';
import { HELD_KINDS, type HeldKind } from '../grants/access.ts';
import { changeGrants, changeStatuses, type GrantsChange, type UserResult } from './changes.ts';
import { OPPOSITE, type User, type UserAction } from './statuses.ts';

const changedAmong = (users: readonly User[], results: readonly UserResult[]): User[] => {
  const changed = new Set(results.filter(({ outcome }) => outcome === 'changed').map(({ userId }) => userId));
  return users.filter(({ userId }) => changed.has(userId));
};

const idsOf = (users: readonly User[]) => users.map(({ userId }) => userId);

/** Returns the opposite action; null if nobody was changed. Those who were paused before a ban are paused again. */
export function undoOfAction(
  applicationId: string,
  users: readonly User[],
  results: readonly UserResult[],
  action: UserAction,
): (() => Promise<Outcome<UserResult[]>>) | null {
  const changed = changedAmong(users, results);
  if (changed.length === 0) return null;
  return async () => {
    const undone = await changeStatuses(applicationId, idsOf(changed), OPPOSITE[action], '');
    const paused = changed.filter(({ status }) => status === 'paused');
    if (!undone.ok || action !== 'ban' || paused.length === 0) return undone;
    const again = await changeStatuses(applicationId, idsOf(paused), 'pause', '');
    return again.ok ? undone : again;
  };
}

/** Takes back each slug from those who did not have it, and gives it back to those who had it. */
export function undoOfGrants(
  applicationId: string,
  users: readonly User[],
  results: readonly UserResult[],
  change: GrantsChange,
): (() => Promise<Outcome<UserResult[]>>) | null {
  const changed = changedAmong(users, results);
  const steps = HELD_KINDS.flatMap(({ kind }) => {
    const { add = [], remove = [] } = change[kind] ?? {};
    return [
      ...add.map((slug) => stepOf(changed, kind, slug, false)),
      ...remove.map((slug) => stepOf(changed, kind, slug, true)),
    ];
  }).filter(({ userIds }) => userIds.length > 0);
  if (steps.length === 0) return null;
  return async () => {
    const outcomes = new Map<string, UserResult>();
    for (const { userIds, back } of steps) {
      const outcome = await changeGrants(applicationId, userIds, back);
      if (!outcome.ok) return outcome;
      for (const result of outcome.data) outcomes.set(result.userId, result);
    }
    return { ok: true, data: [...outcomes.values()] };
  };
}

/** @param wasHeld whether the users concerned held the slug before. */
function stepOf(users: readonly User[], kind: HeldKind, slug: string, wasHeld: boolean) {
  const userIds = idsOf(users.filter((user) => user[kind].includes(slug) === wasHeld));
  return { userIds, back: { [kind]: wasHeld ? { add: [slug] } : { remove: [slug] } } };
}
