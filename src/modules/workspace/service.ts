/** The workspace: made at the first start together with the console, and given owners. */
import { and, asc, eq, isNull } from 'drizzle-orm';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { newId } from '../../core/id.ts';
import { applications } from '../../db/schema/applications.ts';
import { workspaceMembers, workspaces } from '../../db/schema/workspaces.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import type { ApiKeys } from '../api-keys/service.ts';
import type { Applications } from '../applications/service.ts';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { defaultGrants, findMember, findUserByEmail, insertMember, insertPerson } from '../users/members.ts';

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
    const user = findUserByEmail(unit, email) ?? insertPerson(unit, email, false);
    if (!findMember(unit, getConsoleId(), user.id))
      insertMember(unit, getConsoleId(), user.id, defaultGrants(unit, getConsoleId()));
    const member = unit.tx
      .select()
      .from(workspaceMembers)
      .where(and(eq(workspaceMembers.workspaceId, workspaceId), eq(workspaceMembers.userId, user.id)))
      .get();
    if (member?.role === 'owner') return { userId: user.id };
    unit.tx
      .insert(workspaceMembers)
      .values({
        id: newId('workspaceMember', unit.now),
        workspaceId,
        userId: user.id,
        role: 'owner',
        createdAt: unit.now,
      })
      .onConflictDoUpdate({
        target: [workspaceMembers.workspaceId, workspaceMembers.userId],
        set: { role: 'owner' },
      })
      .run();
    unit.audit({ kind: 'workspace.owner_added', workspaceId, userId: user.id, email });
    return { userId: user.id };
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
        if (ownerEmail !== null) ensureOwner(unit, workspaceId, ownerEmail);
        if (workspaceKey !== null) apiKeys.adopt(unit, workspaceId, workspaceKey);
        return { workspaceId };
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
