/** Manages an application's users: lists and reads them, changes their status and grants, and ends their sessions. */
import type { Actor } from '../../core/actor.ts';
import { avatarUrl } from '../../core/image-url.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { displayName } from '../../core/display-name.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { onlyOne, required } from '../../core/required.ts';
import type { Database, Reader } from '../../db/database.ts';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import type { MailStanding } from '../../mail/workspace-mail.ts';
import { requireNewestKeyOf } from '../../store/api-keys.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { type GrantKind, heldGrantsOf, type HeldGrants } from '../../store/grants.ts';
import { findMemberIdByExternalId } from '../../store/handles.ts';
import { listLanguagesOf, type SpokenLanguage } from '../../store/languages.ts';
import {
  findMembersById,
  findMemberWithUser,
  listMembers,
  type Member,
  type MemberWithUser,
} from '../../store/members.ts';
import type { User } from '../../store/people.ts';
import { NEVER } from '../../store/reservations.ts';
import { hasSignedIn, profileIdOf } from '../../store/unproved-profiles.ts';
import { findOpenSession, listOpenSessions, type Session } from '../../store/sessions.ts';
import { replaceGrants } from '../grants/holders.ts';
import { endSessions } from '../sessions/end.ts';
import { type InviteDependencies, inviteUser } from './invite.ts';
import type { InviteInput, UserDetail, UserEntry, UserInvited, UserPatch, UserSession, UsersQuery } from './model.ts';
import { searchMembers } from './search.ts';
import { changeStatus, forgetReservation, type StatusAction } from './status.ts';
import { updateMemberRecord } from './update.ts';

export interface UserDependencies extends InviteDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly cdnUrl: () => string;
}

interface MemberRecord extends MemberWithUser {
  readonly grants: HeldGrants;
  /** Null if the profile is not shown. */
  readonly languages: readonly SpokenLanguage[] | null;
}

export type Users = ReturnType<typeof userService>;

/** Every call is limited to one application: others are neither notified nor changed. */
export function userService({ db, clock, cdnUrl, mails, baseUrl }: UserDependencies) {
  /** @throws {AppError} not_found for a person who is no member, the same as for an unknown one. */
  async function find(reader: Reader, application: Application, userId: string): Promise<MemberWithUser> {
    const row = await findMemberWithUser(reader, application.id, userId);
    if (!row) throw new AppError('not_found');
    return row;
  }

  function entry(
    application: Application,
    { member, user, grants, languages }: MemberRecord,
    isWithMetadata = false,
  ): UserEntry {
    return {
      userId: user.id,
      externalId: member.externalId,
      username: member.username,
      email: user.email,
      status: member.status,
      ...grants,
      lastSeenAt: member.lastSeenAt === NEVER ? null : isoTime(member.lastSeenAt),
      joinedAt: isoTime(member.createdAt),
      ...(languages && { profile: profile(user, languages, application) }),
      ...(isWithMetadata && { metadata: member.metadata ?? {} }),
    };
  }

  function profile(
    user: User,
    languages: readonly SpokenLanguage[],
    application: Application,
  ): NonNullable<UserEntry['profile']> {
    const { givenName, familyName, locale, timezone } = user;
    return {
      fullName: displayName(user),
      givenName,
      familyName,
      avatarUrl: avatarUrl(user, application.slug, cdnUrl()),
      locale,
      timezone,
      languages: [...languages],
    };
  }

  async function detail(
    reader: Reader,
    application: Application,
    row: MemberWithUser,
    isFull: boolean,
  ): Promise<UserDetail> {
    const record = onlyOne(await withRelations(reader, [row], isFull));
    return {
      ...entry(application, record, isFull),
      kind: row.user.kind,
      statusReason: row.member.statusReason,
      emailVerifiedAt: isoTime(row.user.emailVerifiedAt),
      ...(isFull && row.user.kind === 'api_key' && { apiKey: await keyOf(reader, row.member.id) }),
    };
  }

  return {
    /** Lists people, not keys' principals. A page may be short and still have a next one: searches are bounded. */
    async list(
      application: Application,
      { limit = DEFAULT_PAGE_SIZE, cursor, include, sort: order, externalId, ...search }: UsersQuery,
      isByName: boolean,
    ): Promise<Page<UserEntry>> {
      const isWithProfile = include?.startsWith('profile') ?? false;
      const isWithMetadata = include?.endsWith('metadata') ?? false;
      const shown = (record: MemberRecord) => entry(application, record, isWithMetadata);
      if (externalId !== undefined) {
        if (Object.values(search).some((value) => value !== undefined))
          throw invalidField('externalId', 'Give externalId without other filters: it names one user.');
        const id = await findMemberIdByExternalId(db.reader, { applicationId: application.id, externalId });
        const found = await findMembersById(db.reader, id === undefined ? [] : [id]);
        const records = await withRelations(db.reader, [...found.values()], isWithProfile);
        return { items: records.map(shown), nextCursor: null };
      }
      if (Object.values(search).some((value) => value !== undefined)) {
        const page = await searchMembers(
          db.reader,
          application.id,
          { ...search, isByName },
          {
            order,
            after: positionOf(cursor),
            limit,
          },
        );
        const ids = page.found.map(({ id }) => id);
        const members = await findMembersById(db.reader, ids);
        const present = ids.flatMap((id) => members.get(id) ?? []);
        const records = await withRelations(db.reader, present, isWithProfile);
        const nextCursor = page.next && encodeCursor([page.next.lastSeenAt, page.next.id]);
        return { items: records.map(shown), nextCursor };
      }
      const rows = await listMembers(db.reader, application.id, { order, after: positionOf(cursor), limit: limit + 1 });
      const records = await withRelations(db.reader, rows, isWithProfile);
      return pageOf(records, limit, ({ member }) => [member.lastSeenAt, member.id], shown);
    },

    async get(application: Application, userId: string, isWithProfile: boolean): Promise<UserDetail> {
      return detail(db.reader, application, await find(db.reader, application, userId), isWithProfile);
    },

    /** See {@link updateMemberRecord}. @throws {AppError} not_found, invalid_request, conflict, invalid_state */
    update(actor: Actor, application: Application, userId: string, patch: UserPatch): Promise<UserDetail> {
      return db.write(actor, async (unit) => {
        const row = await updateMemberRecord(unit, await find(unit, application, userId), patch);
        return detail(unit, application, row, true);
      });
    },

    /** See {@link changeStatus}. @throws {AppError} not_found, invalid_state */
    act(
      actor: Actor,
      application: Application,
      userId: string,
      action: StatusAction,
      reason?: string,
    ): Promise<UserDetail> {
      return db.write(actor, async (unit) => {
        const { row } = await changeStatus(unit, application, await find(unit, application, userId), {
          action,
          reason,
        });
        return detail(unit, application, row, true);
      });
    },

    /** See {@link inviteUser}. @throws {AppError} not_found, invalid_state, rate_limited */
    invite(actor: Actor, application: Application, userId: string, input: InviteInput): Promise<UserInvited> {
      return db.write(actor, async (unit) =>
        inviteUser(unit, { mails, baseUrl }, application, await find(unit, application, userId), input),
      );
    },

    /** Returns how many mails the application's workspace may still send this hour. */
    mailStanding({ workspaceId }: Application): Promise<MailStanding> {
      return mails.standing(db.reader, workspaceId, clock.now());
    },

    /** See {@link forgetReservation}. @throws {AppError} not_found, invalid_state */
    forget(actor: Actor, application: Application, userId: string): Promise<{ userId: string }> {
      return db.write(actor, async (unit) => {
        await forgetReservation(unit, application, await find(unit, application, userId));
        return { userId };
      });
    },

    /** @throws {AppError} not_found; invalid_request for an unknown slug. */
    setGrants(
      actor: Actor,
      application: Application,
      userId: string,
      kind: GrantKind,
      slugs: readonly string[],
      field = 'slugs',
    ): Promise<{ slugs: string[] }> {
      return db.write(actor, async (unit) => {
        const { member } = await find(unit, application, userId);
        return { slugs: await replaceGrants(unit, kind, member, slugs, field) };
      });
    },

    async listSessions(
      application: Application,
      userId: string,
      { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery,
    ): Promise<Page<UserSession>> {
      const { member } = await find(db.reader, application, userId);
      const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
      const range = { now: clock.now(), before, limit: limit + 1 };
      const rows = await listOpenSessions(db.reader, { memberId: member.id }, range);
      return pageOf(
        rows,
        limit,
        ({ session }) => [session.id],
        ({ session }) => presentSession(session),
      );
    },

    /** Ends one session or all. @throws {AppError} not_found for a session that is not open or not this user's. */
    revokeSessions(
      actor: Actor,
      application: Application,
      userId: string,
      sessionId?: string,
    ): Promise<{ revoked: number }> {
      return db.write(actor, async (unit) => {
        const { member, user } = await find(unit, application, userId);
        if (
          sessionId !== undefined &&
          (await findOpenSession(unit, { id: sessionId, now: unit.now }))?.memberId !== member.id
        )
          throw new AppError('not_found');
        const whose = sessionId === undefined ? { memberId: member.id } : { sessionId };
        const revoked = await endSessions(unit, whose, 'revoked_by_admin');
        if (revoked > 0)
          await recordAudit(unit, {
            kind: 'session.revoked',
            applicationId: application.id,
            userId,
            email: user.email,
            targetId: sessionId ?? null,
            detail: { revoked },
          });
        return { revoked };
      });
    },
  };
}

/** Returns the current key of a synthetic principal. */
async function keyOf(reader: Reader, memberId: string): Promise<UserDetail['apiKey']> {
  const { id, name, applicationId } = await requireNewestKeyOf(reader, memberId);
  return { id, name, applicationId };
}

/** Adds the related rows, with one statement per relation. */
async function withRelations(
  reader: Reader,
  rows: readonly MemberWithUser[],
  isWithProfile: boolean,
): Promise<MemberRecord[]> {
  const memberIds = rows.map(({ member }) => member.id);
  const grants = await heldGrantsOf(reader, memberIds);
  const profileIds = rows.filter(({ member }) => hasSignedIn(member)).map(({ member }) => profileIdOf(member));
  const languages = isWithProfile ? await listLanguagesOf(reader, profileIds) : null;
  return rows.map((row) => ({
    ...row,
    grants: required(grants.get(row.member.id), 'grants of a member'),
    languages: languages && languagesOf(row.member, languages),
  }));
}

/** @param known by id of the account whose profile is shown. */
function languagesOf(member: Member, known: ReadonlyMap<string, readonly SpokenLanguage[]>): readonly SpokenLanguage[] {
  const spoken = hasSignedIn(member) ? known.get(profileIdOf(member)) : member.reservedProfile?.languages;
  return spoken ?? [];
}

/** @throws {AppError} invalid_cursor */
function positionOf(cursor: string | undefined) {
  if (cursor === undefined) return null;
  const [lastSeenAt, id] = decodeCursor(cursor, ['number', 'string']);
  return { lastSeenAt, id };
}

function presentSession({ id, method, ip, userAgent, lastSeenAt, createdAt, expiresAt }: Session): UserSession {
  return {
    id,
    method,
    ip,
    userAgent,
    lastSeenAt: isoTime(lastSeenAt),
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
  };
}
