/** Workspace roles and their descriptions. */
import type { Schemas } from '../../api.ts';
import type { Choice } from '../../components/choices.tsx';

export type Role = Schemas['WorkspaceRole'];

export const ROLE_WORDS: Readonly<Record<Role, { readonly title: string; readonly meaning: string }>> = {
  owner: {
    title: 'Owner',
    meaning: 'Can do everything an admin can, appoint other owners, and see the outbox and the instance’s health.',
  },
  admin: {
    title: 'Admin',
    meaning: 'Can change applications, users, keys and settings, and invite admins and members.',
  },
  member: { title: 'Member', meaning: 'Can view everything in the workspace, and change nothing.' },
};

/** @param isOwner whether the current member is an owner; only owners can appoint owners. */
export function roleChoices(isOwner: boolean): readonly Choice<Role>[] {
  return (['owner', 'admin', 'member'] as const).map((value) => ({
    value,
    label: ROLE_WORDS[value].title,
    detail: ROLE_WORDS[value].meaning,
    whyNot: value === 'owner' && !isOwner ? 'Only an owner can make another owner.' : undefined,
  }));
}
