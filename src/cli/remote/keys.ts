/** `gatehouse keys`: manages API keys of an application or, with `--workspace`, of the workspace. */
import { UsageError } from '../arguments.ts';
import { type CommandSpec, operationCommand } from './operation-command.ts';
import type { DataOf, OperationId, RowOf } from './operations.ts';
import type { RemoteCall, RemoteCommand } from './remote-command.ts';
import type { Facts } from './show.ts';

type Key = RowOf<'listApplicationKeys'>;
type NewKey = DataOf<'createApplicationKey'>;
type KeyOperation = Extract<OperationId, `${string}ApplicationKey${string}`>;

function stateOf({ revokedAt, rotatedToId, gracePeriodEndsAt }: Key): string {
  if (revokedAt !== null) return 'revoked';
  if (gracePeriodEndsAt !== null) return 'in grace';
  return rotatedToId === null ? 'active' : 'rotated';
}

/** Returns the creator of a key; null for the server itself. */
function creatorOf({ createdBy }: Key): string | null {
  if (createdBy === null) return null;
  const { userId, email, key } = createdBy;
  return key === null ? (email ?? userId) : `${key.name}, ${key.id}`;
}

const NEW_KEY: Facts<NewKey> = {
  Key: 'token',
  Id: 'id',
  Name: 'name',
  Access: 'access',
  Expires: ({ expiresAt }, show) => show.time(expiresAt) ?? 'never',
};
const SHOWN_ONCE = 'It is shown this once. Put it where your backend reads it, and nowhere else.';

/** Derives a command for both scopes: workspace operations differ from those of an application only in their names. */
function keyCommand<Id extends KeyOperation>(id: Id, spec: CommandSpec<Id>): RemoteCommand {
  return operationCommand(id, {
    ...spec,
    switches: { workspace: 'Keys of the workspace instead of an application.', ...spec.switches },
    instead(call) {
      const chosen = spec.instead?.(call) ?? id;
      if (!call.isOn('workspace')) return chosen;
      if (call.text('app') !== undefined) throw new UsageError('--workspace and --app exclude each other; give one.');
      return chosen.replace('Application', 'Workspace') as OperationId;
    },
  });
}

export const KEYS: readonly RemoteCommand[] = [
  keyCommand('listApplicationKeys', {
    name: 'keys list',
    summary: 'List API keys, newest first',
    columns: {
      ID: 'id',
      NAME: { cut: 'name' },
      ACCESS: 'access',
      STATE: stateOf,
      'LAST USED': 'lastUsedAt',
      'MADE BY': { cut: creatorOf },
    },
    empty: 'There is no key yet. Make one: gatehouse keys create NAME',
  }),
  keyCommand('createApplicationKey', {
    name: 'keys create',
    summary: 'Create an API key; it is shown this once',
    operands: [{ field: 'name', name: 'NAME', meaning: 'Purpose of the key.' }],
    flags: {
      access: { field: 'access', meaning: 'read, or full, which also changes things. Default: read.' },
      'expires-in-days': {
        field: 'expiresAt',
        value: 'N',
        meaning: 'Default: never.',
        convert: expiry,
      },
    },
    next: ['Next: keep it in a file and give that by --key-file, or set GATEHOUSE_KEY.'],
    record: NEW_KEY,
    remark: () => SHOWN_ONCE,
  }),
  keyCommand('getApplicationKey', {
    name: 'keys show',
    summary: 'Show a key in any state',
    record: {
      Name: 'name',
      Id: 'id',
      'Begins with': 'prefix',
      Access: 'access',
      State: stateOf,
      Limits: ({ rateLimits }) => `${rateLimits.perMinute} a minute, ${rateLimits.perDay} a day`,
      Used: ({ usage }) => `${usage.minute} in this minute, ${usage.day} today`,
      'Last used': 'lastUsedAt',
      Expires: ({ expiresAt }, show) => show.time(expiresAt) ?? 'never',
      Created: 'createdAt',
      'Made by': creatorOf,
    },
  }),
  keyCommand('getApplicationKeyCalls', {
    name: 'keys calls',
    flags: { days: 'days' },
    record: ({ points }) =>
      points.map(({ at, accepted, refused }) => [at, `${accepted} accepted, ${refused} refused`] as const),
  }),
  keyCommand('rotateApplicationKey', {
    name: 'keys rotate',
    switches: { grace: 'Let the old token work for 24 hours more.' },
    instead: (call) => (call.isOn('grace') ? 'rotateApplicationKeyWithGrace' : undefined),
    confirm: ({ call, label }) => (call.isOn('grace') ? null : [label, 'The token in use stops working at once.']),
    record: NEW_KEY,
    remark: () => SHOWN_ONCE,
  }),
  keyCommand('revokeApplicationKey', {
    name: 'keys revoke',
    confirm: ({ label }) => [label, 'The key stops working at once and for good.'],
    done: ({ name }) => `${name} is revoked.`,
  }),
];

function expiry({ number, terminal }: RemoteCall, flag: string): string {
  return new Date(terminal.now() + (number(flag) ?? 0) * 24 * 3600_000).toISOString();
}
