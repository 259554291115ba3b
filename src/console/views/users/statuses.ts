/** Texts of user statuses, and the actions available from each. */
import type { Schemas } from '../../api.ts';
import type { Tone } from '../../components/status.tsx';

export type User = Schemas['UserEntry'];
export type UserStatus = Schemas['MembershipStatus'];
export type UserAction = Schemas['UserAction'];

export const STATUSES: Record<UserStatus, { readonly word: string; readonly tone: Tone; readonly meaning: string }> = {
  active: { word: 'Active', tone: 'good', meaning: 'May sign in.' },
  banned: { word: 'Banned', tone: 'bad', meaning: 'May not sign in until unbanned.' },
  paused: { word: 'Paused', tone: 'warn', meaning: 'May not sign in until resumed.' },
  inactivated: {
    word: 'Inactive',
    tone: 'calm',
    meaning: 'Set their account inactive; signing in makes it active again.',
  },
  left: { word: 'Left', tone: 'calm', meaning: 'Left the application; signing in brings them back.' },
  deleted: { word: 'Deleted', tone: 'bad', meaning: 'May not sign in until restored.' },
};

export type UserStatusFilter = Schemas['UserStatusFilter'];

/** Statuses to filter by, with the one that the list shows for imported people who have never signed in. */
export const STATUS_FILTERS: Record<UserStatusFilter, string> = {
  active: STATUSES.active.word,
  imported: 'Imported',
  banned: STATUSES.banned.word,
  paused: STATUSES.paused.word,
  inactivated: STATUSES.inactivated.word,
  left: STATUSES.left.word,
  deleted: STATUSES.deleted.word,
};

export const STATUS_CHOICES = Object.entries(STATUS_FILTERS).map(([value, label]) => ({ value, label }));

/** Whether an import can be forgotten; the server's check is authoritative. */
export const isForgettable = ({ lastSeenAt, emailVerifiedAt }: Schemas['UserDetail']): boolean =>
  lastSeenAt === null && emailVerifiedAt === null;

export function statusOf(user: Pick<User, 'lastSeenAt' | 'status'>): { readonly word: string; readonly tone: Tone } {
  return user.status === 'active' && user.lastSeenAt === null
    ? { word: STATUS_FILTERS.imported, tone: 'calm' }
    : STATUSES[user.status];
}

interface ActionWords {
  readonly verb: string;
  readonly done: string;
  readonly gerund: string;
  readonly from: readonly UserStatus[];
  readonly to: UserStatus;
  readonly isDanger: boolean;
  readonly effect: string;
}

/** Mirrors the server's rules. */
export const ACTIONS: Record<UserAction, ActionWords> = {
  ban: {
    verb: 'Ban',
    done: 'banned',
    gerund: 'Banning',
    from: ['active', 'paused', 'inactivated', 'left'],
    to: 'banned',
    isDanger: true,
    effect:
      'Every session ends at once, connected devices are disconnected for good, and signing in is refused until the ban is lifted.',
  },
  unban: {
    verb: 'Unban',
    done: 'unbanned',
    gerund: 'Unbanning',
    from: ['banned'],
    to: 'active',
    isDanger: false,
    effect: 'Signing in works again. Sessions and devices that the ban ended do not come back.',
  },
  pause: {
    verb: 'Pause',
    done: 'paused',
    gerund: 'Pausing',
    from: ['active'],
    to: 'paused',
    isDanger: true,
    effect: 'Every session ends at once and signing in is refused until resumed. Connected devices work again then.',
  },
  resume: {
    verb: 'Resume',
    done: 'resumed',
    gerund: 'Resuming',
    from: ['paused'],
    to: 'active',
    isDanger: false,
    effect: 'Signing in works again, and so do connected devices.',
  },
  delete: {
    verb: 'Delete',
    done: 'deleted',
    gerund: 'Deleting',
    from: ['active', 'banned', 'paused', 'inactivated', 'left'],
    to: 'deleted',
    isDanger: true,
    effect:
      'Every session ends at once, connected devices are disconnected for good, and the address cannot sign in until restored.',
  },
  restore: {
    verb: 'Restore',
    done: 'restored',
    gerund: 'Restoring',
    from: ['deleted'],
    to: 'active',
    isDanger: false,
    effect: 'Everything is as it was before the deletion: banned people stay banned.',
  },
};

const ORDER: readonly UserAction[] = ['unban', 'resume', 'restore', 'pause', 'ban', 'delete'];

/** Returns the actions possible for at least one of the users. */
export function actionsFor(users: readonly Pick<User, 'status'>[]): readonly UserAction[] {
  return ORDER.filter((action) => users.some(({ status }) => ACTIONS[action].from.includes(status)));
}

/** Returns the actions possible for somebody whom a status filter lets through. */
export function actionsForFilter(status: UserStatusFilter | undefined): readonly UserAction[] {
  if (status === undefined) return ORDER;
  return actionsFor([{ status: status === 'imported' ? 'active' : status }]);
}

export const OPPOSITE: Readonly<Record<UserAction, UserAction>> = {
  ban: 'unban',
  unban: 'ban',
  pause: 'resume',
  resume: 'pause',
  delete: 'restore',
  restore: 'delete',
};
