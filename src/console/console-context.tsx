/** Signed-in member, current workspace and rights. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Schemas } from './api.ts';

export type Workspace = Schemas['Workspace'];

export interface ConsoleContext {
  readonly workspace: Workspace;
  readonly workspaces: readonly Workspace[];
  readonly me: { readonly userId: string; readonly email: string; readonly name: string };
  /** Applications of all workspaces, including hidden ones. */
  readonly applications: readonly Schemas['Application'][];
  /** Time at which they were read, in milliseconds of `performance.now()`. */
  readonly applicationsReadAt: number;
  reloadApplications(): Promise<void>;
  reloadWorkspaces(): Promise<void>;
}

const Context = createContext<ConsoleContext | null>(null);

export const ConsoleProvider = Context.Provider;

export function useConsole(): ConsoleContext {
  const context = useContext(Context);
  if (!context) throw new Error('a view stands outside the shell');
  return context;
}

interface Rights {
  readonly canWrite: boolean;
  readonly isOwner: boolean;
  readonly whyNot: string | undefined;
  readonly whyNotOwner: string | undefined;
}

/** Right required by a control: `write` is for admins and owners. */
export type Needs = 'nothing' | 'write' | 'owner';

/** Returns why a control is disabled; undefined if it is enabled. */
export function useWhyNot(needs: Needs): string | undefined {
  const { whyNot, whyNotOwner } = useRights();
  return needs === 'owner' ? whyNotOwner : needs === 'write' ? whyNot : undefined;
}

/** Applies the server's rules, so that a disabled control would be refused. */
export function useRights(): Rights {
  const { role } = useConsole().workspace;
  const canWrite = role === 'owner' || role === 'admin';
  return {
    canWrite,
    isOwner: role === 'owner',
    whyNot: canWrite ? undefined : 'Members can look around; only admins and owners can change things.',
    whyNotOwner: role === 'owner' ? undefined : 'Only owners of the workspace can do this.',
  };
}
