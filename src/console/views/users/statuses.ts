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

export const STATUS_CHOICES = Object.entries(STATUSES).map(([value, { word }]) => ({ value, label: word }));

/** Whether an import can be forgotten; the server's check is authoritative. */
export const isForgettable = ({ lastSeenAt, emailVerifiedAt }: Schemas['UserDetail']): boolean =>
  lastSeenAt === null && emailVerifiedAt === null;

export function statusOf(user: Pick<User, 'lastSeenAt' | 'status'>): { readonly word: string; readonly tone: Tone } {
  return user.status === 'active' && user.lastSeenAt === null
    ? { word: 'Imported', tone: 'calm' }
    : STATUSES[user.status];
}

interface ActionWords {
  readonly verb: string;
  readonly done: string;
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
    from: ['active', 'paused', 'inactivated', 'left'],
    to: 'banned',
    isDanger: true,
    effect:
      'Every session ends at once, connected devices are disconnected for good, and signing in is refused until the ban is lifted.',
  },
  unban: {
    verb: 'Unban',
    done: 'unbanned',
    from: ['banned'],
    to: 'active',
    isDanger: false,
    effect: 'Signing in works again. Sessions and devices that the ban ended do not come back.',
  },
  pause: {
    verb: 'Pause',
    done: 'paused',
    from: ['active'],
    to: 'paused',
    isDanger: true,
    effect: 'Every session ends at once and signing in is refused until resumed. Connected devices work again then.',
  },
  resume: {
    verb: 'Resume',
    done: 'resumed',
    from: ['paused'],
    to: 'active',
    isDanger: false,
    effect: 'Signing in works again, and so do connected devices.',
  },
  delete: {
    verb: 'Delete',
    done: 'deleted',
    from: ['active', 'banned', 'paused', 'inactivated', 'left'],
    to: 'deleted',
    isDanger: true,
    effect:
      'Every session ends at once, connected devices are disconnected for good, and the address cannot sign in until restored.',
  },
  restore: {
    verb: 'Restore',
    done: 'restored',
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
