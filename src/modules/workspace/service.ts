/** The workspaces: the first made at the first start together with the console, and given its owners. */
import { and, asc, eq, inArray, isNull } from 'drizzle-orm';
import { type Actor, SYSTEM_ACTOR } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { newId } from '../../core/id.ts';
import { type Principal, workspaceAccess } from '../../core/principal.ts';
import { applications } from '../../db/schema/applications.ts';
import { users } from '../../db/schema/users.ts';
import { workspaceMembers } from '../../db/schema/workspace-members.ts';
import { workspaces } from '../../db/schema/workspaces.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import type { ApiKeys } from '../api-keys/service.ts';
import type { Applications } from '../applications/service.ts';
import { findAliasHolder, findUser, findUserByEmail } from '../users/members.ts';
import type { WorkspaceRecord } from './model.ts';
import { ensureSeat, findSeat, insertSeat } from './seats.ts';

export interface WorkspaceDependencies {
  readonly db: Database;
  readonly applications: Applications;
}

export interface BootstrapInput {
  readonly ownerEmail: string | null;
  readonly workspaceKey: string | null;
}

export type Workspaces = ReturnType<typeof workspaceService>;

export function workspaceService({ db, applications: applicationService }: WorkspaceDependencies) {
  let consoleId: string | undefined;

  function ensureConsole(unit: Unit): string {
    const existing = unit.tx
      .select({ id: applications.id })
      .from(applications)
      .where(isNull(applications.workspaceId))
      .get();
    if (existing) return existing.id;
    const { id } = applicationService.insert(
      unit,
      { workspaceId: null, clientId: CONSOLE_CLIENT_ID },
      { name: 'Gatehouse console', slug: 'gatehouse-console' },
    );
    // Only members made by an owner come in: whoever has no membership meets a closed gate.
    unit.tx.update(applications).set({ stage: 'live', signinGate: 'closed' }).where(eq(applications.id, id)).run();
    return id;
  }

  function ensureWorkspace(unit: Unit): string {
    const existing = firstWorkspace(unit);
    if (existing) return existing;
    const id = newId('workspace', unit.now);
    unit.tx.insert(workspaces).values({ id, name: 'Workspace', createdAt: unit.now }).run();
    unit.audit({ kind: 'workspace.created', workspaceId: id, targetId: id });
    return id;
  }

  function firstWorkspace({ tx }: Unit): string | undefined {
    return tx.select({ id: workspaces.id }).from(workspaces).orderBy(asc(workspaces.id)).limit(1).get()?.id;
  }

  function getConsoleId(): string {
    consoleId ??= applicationService.findByClientId(CONSOLE_CLIENT_ID)?.id;
    if (!consoleId) throw new Error('the console does not exist before bootstrap');
    return consoleId;
  }

  /** Makes the holder of this address an owner and a member of the console. Idempotent. */
  function ensureOwner(unit: Unit, workspaceId: string, email: string): { userId: string } {
    const { userId } = ensureSeat(unit, getConsoleId(), email);
    const member = findSeat(unit, workspaceId, eq(workspaceMembers.userId, userId));
    if (member?.role === 'owner') return { userId };
    if (member) unit.tx.update(workspaceMembers).set({ role: 'owner' }).where(eq(workspaceMembers.id, member.id)).run();
    else insertSeat(unit, workspaceId, userId, 'owner');
    unit.audit({ kind: 'workspace.owner_added', workspaceId, userId, email });
    return { userId };
  }

  /** The setting outlives changes of address: whose it was before stays the owner, and who is gone stays gone. */
  function ensureConfiguredOwner(unit: Unit, workspaceId: string, email: string): void {
    const holderId = findAliasHolder(unit, email);
    const holder = holderId ? findUser(unit, holderId) : findUserByEmail(unit, email);
    if (holder && holder.deletedAt !== null) return;
    ensureOwner(unit, workspaceId, holder?.email ?? email);
  }

  return {
    consoleId: getConsoleId,
    ensureOwner,
    firstWorkspace,

    /** Everything a data folder needs, in one transaction; at every start, changing nothing that is there. */
    bootstrap(apiKeys: ApiKeys, { ownerEmail, workspaceKey }: BootstrapInput): { workspaceId: string } {
      return db.write(SYSTEM_ACTOR, (unit) => {
        consoleId = ensureConsole(unit);
        const workspaceId = ensureWorkspace(unit);
        if (ownerEmail !== null) ensureConfiguredOwner(unit, workspaceId, ownerEmail);
        if (workspaceKey !== null) apiKeys.adopt(unit, workspaceId, workspaceKey);
        return { workspaceId };
      });
    },

    /** Where codes for a key's doings go. */
    ownerEmails({ tx }: Unit, workspaceId: string): string[] {
      return tx
        .select({ email: users.email })
        .from(workspaceMembers)
        .innerJoin(users, eq(users.id, workspaceMembers.userId))
        .where(and(eq(workspaceMembers.workspaceId, workspaceId), eq(workspaceMembers.role, 'owner')))
        .orderBy(asc(workspaceMembers.id))
        .all()
        .map(({ email }) => email);
    },

    get(workspaceId: string): WorkspaceRecord {
      return presentWorkspace(db.orm.select().from(workspaces).where(eq(workspaces.id, workspaceId)).get()!);
    },

    /** The workspaces a person is a member of, or the one that a key has all of. */
    list(principal: Principal): WorkspaceRecord[] {
      const own =
        principal.kind === 'key' ? [principal.workspaceId] : principal.workspaces.map(({ workspaceId }) => workspaceId);
      const ids = own.filter((id) => workspaceAccess(principal, id) !== null);
      if (ids.length === 0) return [];
      const rows = db.orm
        .select()
        .from(workspaces)
        .where(inArray(workspaces.id, ids))
        .orderBy(asc(workspaces.id))
        .all();
      return rows.map(presentWorkspace);
    },

    rename(actor: Actor, workspaceId: string, name: string): WorkspaceRecord {
      return db.write(actor, (unit) => {
        const [row] = unit.tx
          .update(workspaces)
          .set({ name: name.trim() })
          .where(eq(workspaces.id, workspaceId))
          .returning()
          .all();
        unit.audit({ kind: 'workspace.updated', workspaceId, targetId: workspaceId });
        return presentWorkspace(row!);
      });
    },

    /** Another workspace, owned by whoever makes it. */
    create(actor: Actor, ownerId: string, name: string): WorkspaceRecord {
      return db.write(actor, (unit) => {
        const [row] = unit.tx
          .insert(workspaces)
          .values({ id: newId('workspace', unit.now), name: name.trim(), createdAt: unit.now })
          .returning()
          .all();
        insertSeat(unit, row!.id, ownerId, 'owner');
        unit.audit({ kind: 'workspace.created', workspaceId: row!.id, targetId: row!.id });
        return presentWorkspace(row!);
      });
    },

    hasOwner(): boolean {
      return (
        db.orm
          .select({ id: workspaceMembers.id })
          .from(workspaceMembers)
          .where(eq(workspaceMembers.role, 'owner'))
          .get() !== undefined
      );
    },
  };
}

function presentWorkspace({ id, name, createdAt }: typeof workspaces.$inferSelect): WorkspaceRecord {
  return { id, name, createdAt: isoTime(createdAt) };
}
