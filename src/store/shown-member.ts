/** A member as the application may see them: a reservation shows nothing of its person but the id. */
import type { User } from './people.ts';
import type { applicationUsers } from './schema/users.ts';

export type Member = typeof applicationUsers.$inferSelect;

/** A membership with its person or key principal, as the application may see them ({@link asShown}). */
export interface MemberWithUser {
  readonly member: Member;
  readonly user: User;
}

/**
 * Returns a member as the application may see them: of a reservation, the reserved data and the person's id only.
 * @param user the account whose profile the membership shows; see store/unproved-profiles.ts.
 */
export function asShown({ member, user }: MemberWithUser): MemberWithUser {
  const { reservedEmail, reservedProfile, profileUserId, userId: id, createdAt, updatedAt } = member;
  if (reservedEmail === null) return { member, user };
  // An unproved member: shows their profile under their own id, with the address they signed in with.
  if (profileUserId !== null) return { member, user: { ...user, id, email: reservedEmail } };
  const { kind } = user;
  const {
    givenName = null,
    familyName = null,
    fullName = null,
    locale = null,
    timezone = null,
  } = reservedProfile ?? {};
  const shown: User = {
    ...{ id, kind, email: reservedEmail, emailVerifiedAt: null, name: null },
    ...{ givenName, familyName, fullName, locale, timezone, region: null },
    ...{ providerAvatarUrl: null, avatarSizes: null, avatarUpdatedAt: null, bannerSizes: null, bannerUpdatedAt: null },
    ...{ createdAt, updatedAt, deletedAt: null },
  };
  return { member, user: shown };
}
