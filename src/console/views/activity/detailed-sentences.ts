/** Sentences that also say which and how many, from a record's detail. */
import type { AuditKind } from '../../../core/audit.ts';
import { counted } from '../../components/format.ts';

type Detail = Readonly<Record<string, unknown>>;

/** Returns a sentence as in `sentences.ts`; null where the detail does not say enough. */
type Detailed = (detail: Detail) => string | null;

/** Slugs that a sentence names; of more, it says how many there are. */
const MOST_NAMED = 3;

const numberOf = (value: unknown) => (typeof value === 'number' && Number.isInteger(value) ? value : 0);

/** Braces would be taken for a part of the sentence. */
function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map((one) => String(one).replace(/[{}]/g, '')) : [];
}

const textOf = (value: unknown) => textsOf([value ?? '']).join('');

function listed(names: readonly string[]): string {
  const [last = '', ...others] = names.toReversed();
  if (names.length > MOST_NAMED) return `${names.slice(0, MOST_NAMED - 1).join(', ')} and ${names.length - 2} more`;
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
}

/** Returns "added editor, removed viewer". */
function changesOf(added: readonly string[], removed: readonly string[]): string {
  return [added.length > 0 && `added ${listed(added)}`, removed.length > 0 && `removed ${listed(removed)}`]
    .filter(Boolean)
    .join(', ');
}

const assigned =
  (what: string): Detailed =>
  ({ added, removed }) => {
    const changes = changesOf(textsOf(added), textsOf(removed));
    return changes === '' ? null : `Changed ${what} of {user}: ${changes}`;
  };

/** Turns `branding.logoUrl` into "logo url". */
const fieldInWords = (field: string) =>
  (field.split('.').at(-1) ?? field).replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();

const changed =
  (plain: string): Detailed =>
  ({ fields }) => {
    const names = [...new Set(textsOf(fields).map(fieldInWords))];
    return names.length === 0 ? null : `${plain}: ${listed(names)}`;
  };

const ACTIONS: Readonly<Record<string, string>> = {
  ban: 'Banned',
  unban: 'Unbanned',
  pause: 'Paused',
  resume: 'Resumed',
  delete: 'Deleted',
  restore: 'Restored',
};

/** Counts are there once the change has ended. */
function bulkChange(detail: Detail): string | null {
  const { action, changed: people, undoOf } = detail;
  const whom = typeof people === 'number' ? counted(people, 'user') : 'all users that match';
  const end = undoOf === undefined ? '' : ' to undo a change';
  const verb = ACTIONS[String(action)];
  if (verb !== undefined) return `${verb} ${whom}${end}`;
  for (const [kind, what] of GRANT_KINDS) {
    const { add, remove } = (detail[kind] ?? {}) as Detail;
    const changes = changesOf(textsOf(add), textsOf(remove));
    if (changes !== '') return `Changed ${what} of ${whom}${end}: ${changes}`;
  }
  return typeof people === 'number' ? `Changed ${whom}${end}` : null;
}

const GRANT_KINDS = [
  ['roles', 'roles'],
  ['scopes', 'scopes'],
  ['memberships', 'groups'],
] as const;

const DETAILED: Partial<Readonly<Record<AuditKind, Detailed>>> = {
  'role.assigned': assigned('roles'),
  'scope.assigned': assigned('scopes'),
  'membership.assigned': assigned('groups'),
  'role.updated': changed('Changed role {target}'),
  'scope.updated': changed('Changed scope {target}'),
  'membership.updated': changed('Changed group {target}'),
  'application.updated': changed('Changed application {target}'),
  'user.updated': changed('Changed the record of {user}'),
  'user.bulk_changed': bulkChange,
  'user.imported': ({ created, linked, requested }) =>
    typeof requested === 'number'
      ? `Imported ${counted(numberOf(created) + numberOf(linked), 'user')} of ${counted(requested, 'row')}`
      : null,
  'session.revoked': ({ revoked }) =>
    numberOf(revoked) > 0 ? `Ended ${counted(numberOf(revoked), 'session')} of {user}` : null,
  'application.gate_changed': ({ from, to }) =>
    to === undefined ? null : `Changed the sign-in gate from ${textOf(from)} to ${textOf(to)}`,
  'workspace.member_invited': ({ role }) =>
    role === undefined ? null : `Invited {user} to the workspace as ${textOf(role)}`,
  'workspace.member_changed': ({ from, to }) =>
    to === undefined ? null : `Changed the workspace role of {user} from ${textOf(from)} to ${textOf(to)}`,
  'openid.client_registered': ({ name }) => (name === undefined ? null : `Registered OAuth client ${textOf(name)}`),
  'webhook.replayed': ({ replayed }) =>
    numberOf(replayed) > 0 ? `Sent ${counted(numberOf(replayed), 'failed event')} of webhook {target} again` : null,
  'webhook.held_dropped': ({ dropped }) =>
    numberOf(dropped) > 0 ? `Dropped ${counted(numberOf(dropped), 'held event')} of webhook {target}` : null,
};

export function detailedSentence(kind: string, detail: Detail | null): string | null {
  return detail === null ? null : ((DETAILED as Record<string, Detailed>)[kind]?.(detail) ?? null);
}
