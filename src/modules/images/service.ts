/** The avatar and the banner of a person: put, removed, and found for whoever may see them. */
import { and, eq, isNull, notInArray, sql } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { imageUrl } from '../../core/image-url.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { preparedOnce } from '../../db/prepared.ts';
import { userImages } from '../../db/schema/account.ts';
import { type Application, applications } from '../../db/schema/applications.ts';
import { applicationUsers, users } from '../../db/schema/users.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { announce } from '../users/announce.ts';
import { findUser, type User } from '../users/members.ts';
import { settle } from './memory.ts';
import type { Image } from './model.ts';
import { render, type Variant } from './render.ts';
import { turns } from './turns.ts';
import { type ImageKind, SHAPES, VARIANTS } from './variants.ts';

export interface ImageDependencies {
  readonly db: Database;
  readonly cdnUrl: () => string;
  readonly findApplication: (id: string) => Application | undefined;
  readonly isSessionLive: (sessionId: string) => boolean;
}

export interface StoredVariant {
  readonly updatedAt: number;
  /** WebP. */
  readonly bytes: Buffer;
}

export type Images = ReturnType<typeof imageService>;

const { placeholder } = sql;

const variantOfMember = preparedOnce((orm) =>
  orm
    .select({ updatedAt: userImages.updatedAt, bytes: userImages.bytes })
    .from(userImages)
    .innerJoin(users, eq(users.id, userImages.userId))
    .innerJoin(applicationUsers, eq(applicationUsers.userId, users.id))
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(
      and(
        eq(userImages.userId, placeholder('userId')),
        eq(userImages.kind, placeholder('kind')),
        eq(userImages.size, placeholder('size')),
        isNull(users.deletedAt),
        eq(applications.slug, placeholder('slug')),
        isNull(applications.deletedAt),
        notInArray(applicationUsers.status, ['left', 'deleted']),
      ),
    )
    .prepare(),
);

export function imageService({ db, cdnUrl, findApplication, isSessionLive }: ImageDependencies) {
  /** A picture takes much memory while it is worked on, so there is one at a time. */
  const inTurn = turns(settle);

  function urlIn(applicationSlug: string, userId: string, kind: ImageKind, size: number, updatedAt: number): string {
    return imageUrl({ cdnUrl: cdnUrl(), applicationSlug, userId, kind, size, updatedAt });
  }

  function store(unit: Unit, user: User, kind: ImageKind, variants: readonly Variant[]): number {
    const { sizes, shownSize } = SHAPES[kind];
    // Addresses are kept forever by whoever has seen them: no two pictures share a time, whatever the clock does.
    const before = updatedAtOf(user, kind);
    const updatedAt = Math.max(unit.now, before === null ? user.updatedAt : before + 1);
    unit.tx.delete(userImages).where(rowsOf(user.id, kind)).run();
    for (const { size, bytes } of variants)
      unit.tx.insert(userImages).values({ userId: user.id, kind, size, bytes, updatedAt }).run();
    setColumns(unit, user, kind, { sizes: [...sizes], updatedAt }, unit.now);
    announce(unit, user.id, `user.${kind}_changed`, ({ slug }) => ({
      url: urlIn(slug, user.id, kind, shownSize, updatedAt),
      sizes: [...sizes],
      updatedAt: isoTime(updatedAt),
    }));
    return updatedAt;
  }

  return {
    /**
     * Makes a file the person's picture, all sizes at once or not at all.
     *
     * @param file of any content; used up.
     * @throws {AppError} invalid_request, unauthenticated
     */
    async put(actor: Actor, principal: SessionPrincipal, kind: ImageKind, file: Uint8Array): Promise<Image> {
      const { userId, sessionId, applicationId } = principal;
      const { sizes, shownSize } = SHAPES[kind];
      const variants = await inTurn(() => render(file, SHAPES[kind]));
      const updatedAt = db.write(actor, (unit) => {
        // That took a while: who was signed out or deleted meanwhile changes nothing any more.
        if (!isSessionLive(sessionId)) throw new AppError('unauthenticated');
        unit.audit({ kind: `account.${kind}_changed`, applicationId, userId });
        return store(unit, findUser(unit, userId)!, kind, variants);
      });
      const { slug } = findApplication(applicationId)!;
      return {
        url: urlIn(slug, userId, kind, shownSize, updatedAt),
        sizes: [...sizes],
        updatedAt: isoTime(updatedAt),
        variants: sizes.map((size) => ({ size, url: urlIn(slug, userId, kind, size, updatedAt) })),
      };
    },

    /** Idempotent. */
    remove(actor: Actor, { userId, applicationId }: SessionPrincipal, kind: ImageKind): null {
      db.write(actor, (unit) => {
        const user = findUser(unit, userId)!;
        const updatedAt = updatedAtOf(user, kind);
        if (updatedAt === null) return;
        unit.tx.delete(userImages).where(rowsOf(userId, kind)).run();
        // Remembers for the next picture which times are taken.
        setColumns(unit, user, kind, { sizes: null, updatedAt: null }, Math.max(unit.now, updatedAt + 1));
        unit.audit({ kind: `account.${kind}_changed`, applicationId, userId, detail: { isRemoved: true } });
        announce(unit, userId, `user.${kind}_changed`, { url: null, sizes: null, updatedAt: null });
      });
      return null;
    },

    /** @throws {AppError} not_found where the person is no member of that application, as where there is no picture. */
    find(applicationSlug: string, userId: string, file: string): StoredVariant {
      const name = VARIANTS.get(file);
      const found = name && variantOfMember(db.orm).get({ slug: applicationSlug, userId, ...name });
      if (!found) throw new AppError('not_found');
      return found;
    },
  };
}

function updatedAtOf({ avatarUpdatedAt, bannerUpdatedAt }: User, kind: ImageKind): number | null {
  return kind === 'avatar' ? avatarUpdatedAt : bannerUpdatedAt;
}

function rowsOf(userId: string, kind: ImageKind) {
  return and(eq(userImages.userId, userId), eq(userImages.kind, kind));
}

interface Columns {
  readonly sizes: number[] | null;
  readonly updatedAt: number | null;
}

/** @param atLeast what the user's own time must not stand before. */
function setColumns({ tx }: Unit, user: User, kind: ImageKind, columns: Columns, atLeast: number): void {
  const { sizes, updatedAt } = columns;
  tx.update(users)
    .set({
      ...(kind === 'avatar'
        ? { avatarSizes: sizes, avatarUpdatedAt: updatedAt }
        : { bannerSizes: sizes, bannerUpdatedAt: updatedAt }),
      updatedAt: Math.max(user.updatedAt, atLeast),
    })
    .where(eq(users.id, user.id))
    .run();
}
