/** Who is signed in, in which workspace, and what they may change there. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Schemas } from './api.ts';

/** A workspace as its members see it. */
export type Workspace = Schemas['Workspace'];

/** What every view knows. */
export interface World {
  /** The one that is open. */
  readonly workspace: Workspace;
  readonly workspaces: readonly Workspace[];
  readonly me: { readonly userId: string; readonly email: string; readonly name: string };
  /** Of all workspaces; hidden ones too, which are shown where they are asked for alone. */
  readonly applications: readonly Schemas['Application'][];
  reloadApplications(): Promise<void>;
  reloadWorkspaces(): Promise<void>;
}

const WorldContext = createContext<World | null>(null);

export const WorldProvider = WorldContext.Provider;

export function useWorld(): World {
  const world = useContext(WorldContext);
  if (!world) throw new Error('a view stands outside the shell');
  return world;
}

interface Rights {
  readonly canWrite: boolean;
  readonly isOwner: boolean;
  /** Why not; undefined where they may. */
  readonly whyNot: string | undefined;
  readonly whyNotOwner: string | undefined;
}

/** What a control needs: `write` is for admins and owners. */
export type Needs = 'nothing' | 'write' | 'owner';

/** Why a control is out of reach; undefined where it is not. */
export function useWhyNot(needs: Needs): string | undefined {
  const { whyNot, whyNotOwner } = useRights();
  return needs === 'owner' ? whyNotOwner : needs === 'write' ? whyNot : undefined;
}

/** As the server judges it too: what is shown as out of reach would be refused. */
export function useRights(): Rights {
  const { role } = useWorld().workspace;
  const canWrite = role === 'owner' || role === 'admin';
  return {
    canWrite,
    isOwner: role === 'owner',
    whyNot: canWrite ? undefined : 'Members can look around; only admins and owners can change things.',
    whyNotOwner: role === 'owner' ? undefined : 'Only owners of the workspace can do this.',
  };
}
