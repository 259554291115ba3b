/** Routes for the caller's own credential: identity and reach, and how a personal key ends itself. */
import { type Static, Type } from '@sinclair/typebox';
import type { Author, Database } from '../../db/database.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { PersonPrincipal, Principal } from '../../core/principal.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { Choice, Id, Nullable, Timestamp } from '../../http/schemas.ts';
import { requireKey } from '../../store/api-keys.ts';
import { requireUser } from '../../store/people.ts';
import { listWorkspaces } from '../../store/workspaces.ts';
import { ApiKeySchema } from '../api-keys/model.ts';
import { DeviceRevoked } from './model.ts';
import type { PersonalKeys } from './personal-keys.ts';

const { id, name, prefix, access, source, applicationId, applicationIds, expiresAt, createdAt } =
  ApiKeySchema.properties;

const Caller = Type.Object(
  {
    kind: Choice(['key', 'personal_key', 'session'], { description: 'What the credential is.' }),
    userId: Id('usr', { description: 'The person, or the principal of a backend’s key.' }),
    email: Nullable(Type.String({ description: 'Of the person; null for a backend’s key.' })),
    key: Nullable(
      Type.Object(
        { id, name, prefix, access, source, applicationId, applicationIds, expiresAt, createdAt },
        { description: 'Null for a session.' },
      ),
    ),
    workspaces: Type.Array(
      Type.Object({
        id: Id('wsp'),
        name: Type.String(),
        role: Nullable(Type.String({ description: 'Role of the person; null for a backend’s key.' })),
        createdAt: Timestamp(),
      }),
      { description: 'Workspaces that it may manage.' },
    ),
  },
  { $id: 'Caller' },
);

export interface OwnKeyDependencies {
  readonly db: Database;
  readonly personalKeys: PersonalKeys;
}

export function ownKeyRoutes({ db, personalKeys }: OwnKeyDependencies): Operation[] {
  const common = { tag: 'API keys', scope: 'instance' } as const;

  async function present(principal: Principal): Promise<Static<typeof Caller>> {
    const { kind, userId } = principal;
    const seats = kind === 'key' ? [{ workspaceId: principal.workspaceId, role: null }] : principal.workspaces;
    const roles = new Map<string, string | null>(seats.map(({ workspaceId, role }) => [workspaceId, role]));
    const workspaces = await listWorkspaces(db.reader, [...roles.keys()]);
    const key = kind === 'session' ? null : await requireKey(db.reader, principal.keyId);
    return {
      kind,
      userId,
      email: kind === 'key' ? null : (await requireUser(db.reader, userId)).email,
      key: key && {
        id: key.id,
        name: key.name,
        prefix: key.prefix,
        access: key.access,
        source: key.source,
        applicationId: key.applicationId,
        applicationIds: kind === 'key' ? (principal.applicationIds as string[] | null) : null,
        expiresAt: isoTime(key.expiresAt),
        createdAt: isoTime(key.createdAt),
      },
      workspaces: workspaces.map((workspace) => ({
        id: workspace.id,
        name: workspace.name,
        role: roles.get(workspace.id) ?? null,
        createdAt: isoTime(workspace.createdAt),
      })),
    };
  }

  /** @throws {AppError} invalid_state for a session, which has to sign out instead. */
  async function end(principal: PersonPrincipal, actor: Author): Promise<{ id: string }> {
    if (principal.kind === 'session') throw new AppError('invalid_state', { hint: 'personal_key_needed' });
    const { userId, keyId } = principal;
    return personalKeys.revoke(actor, { userId, workspaceId: null }, keyId);
  }

  return [
    operation({
      ...common,
      id: 'getCaller',
      method: 'GET',
      path: '/api/me',
      summary: 'Read which principal the credential acts as, and what it may manage',
      access: 'read',
      limit: 'key',
      data: Caller,
      handle: ({ principal }) => present(principal),
    }),
    operation({
      ...common,
      id: 'endOwnKey',
      method: 'DELETE',
      path: '/api/me/key',
      summary: 'Revoke the personal key sent as the bearer, at once',
      description: 'Lets a tool sign out. A backend’s key is revoked in the console or with an admin key.',
      access: 'person',
      limit: 'session',
      data: DeviceRevoked,
      errors: ['invalid_state'],
      handle: ({ principal, actor }) => end(principal, actor),
    }),
  ];
}
