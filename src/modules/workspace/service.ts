/** Manages workspaces. The first start creates the console and the first workspace, with its owner. */
import { type Actor, SYSTEM_ACTOR } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { StartupError } from '../../core/startup-error.ts';
import { type ConsoleRole, type Principal } from '../../core/principal.ts';
import { workspaceRole, workspaceAccess } from '../../core/access-control.ts';
import type { Database, Unit } from '../../db/database.ts';
import type { LimitState } from '../../http/rate-limit.ts';
import { findConsole, updateApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { findAliasHolder, findUserByEmail } from '../../store/people.ts';
import {
  findWorkspaceMember,
  hasOwner,
  insertWorkspaceMember,
  setWorkspaceRole,
} from '../../store/workspace-members.ts';
import {
  findFirstWorkspaceId,
  insertWorkspace,
  listWorkspaces,
  renameWorkspace,
  requireWorkspace,
  type Workspace,
} from '../../store/workspaces.ts';
import type { ApiKeys } from '../api-keys/service.ts';
import type { Applications } from '../applications/service.ts';
import type { CreationLimit } from './creation-limit.ts';
import type { WorkspaceRecord } from './model.ts';
import { ensureMember } from './invitations.ts';

export interface WorkspaceDependencies {
  readonly db: Database;
  readonly applications: Applications;
  readonly creation: CreationLimit;
}

/** The configured owner and key; null if not configured. */
export interface BootstrapInput {
  readonly ownerEmail: string | null;
  readonly workspaceKey: string | null;
}

export type Workspaces = ReturnType<typeof workspaceService>;

export function workspaceService({ db, applications, creation }: WorkspaceDependencies) {
  let consoleId: string | undefined;

  async function ensureConsole(unit: Unit): Promise<string> {
    const existing = await findConsole(unit);
    if (existing) return existing.id;
    const { id } = await applications.insert(
      unit,
      { workspaceId: null, clientId: CONSOLE_CLIENT_ID },
      { name: 'Gatehouse console', slug: 'gatehouse-console' },
    );
    // The closed gate admits only existing members, whom owners invite.
    await updateApplication(unit, id, { stage: 'live', signinGate: 'closed' });
    return id;
  }

  async function ensureWorkspace(unit: Unit): Promise<string> {
    const existing = await findFirstWorkspaceId(unit);
    if (existing) return existing;
    const { id } = await insertWorkspace(unit, 'Workspace', null);
    await recordAudit(unit, { kind: 'workspace.created', workspaceId: id, targetId: id });
    return id;
  }

  function getConsoleId(): string {
    if (consoleId === undefined) throw new Error('the console does not exist before bootstrap');
    return consoleId;
  }

  /** Makes the holder of the address an owner and a member of the console. Idempotent. */
  async function makeOwner(
    unit: Unit,
    { workspaceId, consoleId, email }: { workspaceId: string; consoleId: string; email: string },
  ): Promise<{ userId: string }> {
    const { userId } = await ensureMember(unit, consoleId, email);
    const member = await findWorkspaceMember(unit, workspaceId, userId);
    if (member?.role === 'owner') return { userId };
    if (member) await setWorkspaceRole(unit, member, 'owner');
    else await insertWorkspaceMember(unit, workspaceId, { userId, role: 'owner' });
    await recordAudit(unit, { kind: 'workspace.owner_added', workspaceId, userId, email });
    return { userId };
  }

  return {
    /** Returns the console's id, which never changes; throws before `bootstrap`. */
    consoleId: getConsoleId,

    ensureOwner: (unit: Unit, workspaceId: string, email: string): Promise<{ userId: string }> =>
      makeOwner(unit, { workspaceId, consoleId: getConsoleId(), email }),

    /** Creates a data folder's contents in one transaction. Idempotent; await it at each start before other calls. */
    async bootstrap(apiKeys: ApiKeys, { ownerEmail, workspaceKey }: BootstrapInput): Promise<{ workspaceId: string }> {
      const found = await db.write(SYSTEM_ACTOR, async (unit) => {
        const consoleId = await ensureConsole(unit);
        const workspaceId = await ensureWorkspace(unit);
        const email = ownerEmail === null ? null : await configuredOwner(unit, ownerEmail);
        if (email !== null) await makeOwner(unit, { workspaceId, consoleId, email });
        if (workspaceKey !== null) await apiKeys.adopt(unit, workspaceId, workspaceKey);
        return { workspaceId, consoleId };
      });
      ({ consoleId } = found);
      return { workspaceId: found.workspaceId };
    },

    async get(principal: Principal, workspaceId: string): Promise<WorkspaceRecord> {
      return presentWorkspace(await requireWorkspace(db.reader, workspaceId), workspaceRole(principal, workspaceId));
    },

    /** Returns the workspaces a person is a member of, or the one that a key reaches as a whole. */
    async list(principal: Principal): Promise<WorkspaceRecord[]> {
      const own =
        principal.kind === 'key' ? [principal.workspaceId] : principal.workspaces.map(({ workspaceId }) => workspaceId);
      const ids = own.filter((id) => workspaceAccess(principal, id) !== null);
      const workspaces = await listWorkspaces(db.reader, ids);
      return workspaces.map((workspace) => presentWorkspace(workspace, workspaceRole(principal, workspace.id)));
    },

    rename(actor: Actor, principal: Principal, workspaceId: string, name: string): Promise<WorkspaceRecord> {
      return db.write(actor, async (unit) => {
        const workspace = await renameWorkspace(unit, workspaceId, name.trim());
        await recordAudit(unit, { kind: 'workspace.updated', workspaceId, targetId: workspaceId });
        return presentWorkspace(workspace, workspaceRole(principal, workspaceId));
      });
    },

    /** Makes a workspace on its creator's budgets; returns the day limit. @throws {AppError} conflict, rate_limited */
    create(
      actor: Actor,
      ownerId: string,
      name: string,
    ): Promise<{ workspace: WorkspaceRecord; day: LimitState | null }> {
      return db.write(actor, async (unit) => {
        await creation.requireRoom(unit, ownerId);
        const workspace = await insertWorkspace(unit, name.trim(), ownerId);
        const { id: workspaceId } = workspace;
        await insertWorkspaceMember(unit, workspaceId, { userId: ownerId, role: 'owner' });
        await recordAudit(unit, { kind: 'workspace.created', workspaceId, targetId: workspaceId });
        return { workspace: presentWorkspace(workspace, 'owner'), day: await creation.ofDay(unit, ownerId) };
      });
    },

    hasOwner: (): Promise<boolean> => hasOwner(db.reader),
  };
}

/** Returns null for a deleted account. @throws {StartupError} if its address has changed since: perhaps a takeover. */
async function configuredOwner(unit: Unit, email: string): Promise<string | null> {
  if (await findAliasHolder(unit, email))
    throw new StartupError(
      'GATEHOUSE_OWNER_EMAIL is an address that its account has changed since. Set it to the present address of the owner, ' +
        'or leave it out; to get back in, run "gatehouse setup-link".',
    );
  const holder = await findUserByEmail(unit, email);
  return holder && holder.deletedAt !== null ? null : email;
}

function presentWorkspace({ id, name, createdAt }: Workspace, role: ConsoleRole | null): WorkspaceRecord {
  return { id, name, role, createdAt: isoTime(createdAt) };
}
