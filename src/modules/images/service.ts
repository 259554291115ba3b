/** The avatar and the banner of a person: put, removed, and found for whoever may see them. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { imageUrl } from '../../core/image-url.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Database, Unit } from '../../db/database.ts';
import { requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  deleteVariants,
  findVariantOfMember,
  type ImageKind,
  replaceVariants,
  type StoredVariant,
} from '../../store/images.ts';
import { requireUser, updateUser, type User } from '../../store/people.ts';
import { announceOfProfile } from '../users/announce.ts';
import type { Image } from './model.ts';
import { render, type Variant } from './render.ts';
import { SHAPES, VARIANTS } from './variants.ts';

export interface ImageDependencies {
  readonly db: Database;
  readonly cdnUrl: () => string;
}

/**
 * Between two pictures: in this time the allocator returns to the system what the one has left behind, which would come on
 * top of what the next one takes. Measured with test/bench/images.ts.
 */
const REST_MS = 200;

export type Images = ReturnType<typeof imageService>;

/** Works on one picture at a time, for all callers together, as that takes much memory. */
export function imageService({ db, cdnUrl }: ImageDependencies) {
  /** A picture takes much memory while it is worked on, so there is one at a time; who has had their turn does not wait for the rest. */
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = last.then(task);
    // One that fails does not fail those behind it.
    last = result.catch(() => {}).then(() => Bun.sleep(REST_MS));
    return result;
  }

  function urlIn(applicationSlug: string, userId: string, kind: ImageKind, size: number, updatedAt: number): string {
    return imageUrl({ cdnUrl: cdnUrl(), applicationSlug, userId, kind, size, updatedAt });
  }

  async function store(unit: Unit, user: User, kind: ImageKind, variants: readonly Variant[]): Promise<number> {
    const { sizes, shownSize } = SHAPES[kind];
    // Addresses are kept forever by whoever has seen them: no two pictures share a time, whatever the clock does.
    const before = updatedAtOf(user, kind);
    const updatedAt = Math.max(unit.now, before === null ? user.updatedAt : before + 1);
    await replaceVariants(unit, { userId: user.id, kind, updatedAt }, variants);
    await setColumns(unit, user, kind, { sizes: [...sizes], updatedAt }, unit.now);
    await announceOfProfile(unit, user.id, `user.${kind}_changed`, ({ slug }, userId) => ({
      url: urlIn(slug, userId, kind, shownSize, updatedAt),
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
      const { userId, profileId, applicationId } = principal;
      const { sizes, shownSize } = SHAPES[kind];
      const variants = await inTurn(() => render(file, SHAPES[kind]));
      const updatedAt = await db.write(actor, async (unit) => {
        await recordAudit(unit, { kind: `account.${kind}_changed`, applicationId, userId });
        return store(unit, await requireUser(unit, profileId), kind, variants);
      });
      const { slug } = await requireApplication(db.reader, applicationId);
      return {
        url: urlIn(slug, userId, kind, shownSize, updatedAt),
        sizes: [...sizes],
        updatedAt: isoTime(updatedAt),
        variants: sizes.map((size) => ({ size, url: urlIn(slug, userId, kind, size, updatedAt) })),
      };
    },

    /** Idempotent. */
    async remove(actor: Actor, principal: SessionPrincipal, kind: ImageKind): Promise<null> {
      const { userId, profileId, applicationId } = principal;
      await db.write(actor, async (unit) => {
        const user = await requireUser(unit, profileId);
        const updatedAt = updatedAtOf(user, kind);
        if (updatedAt === null) return;
        await deleteVariants(unit, profileId, kind);
        // Remembers for the next picture which times are taken.
        await setColumns(unit, user, kind, { sizes: null, updatedAt: null }, Math.max(unit.now, updatedAt + 1));
        await recordAudit(unit, {
          kind: `account.${kind}_changed`,
          applicationId,
          userId,
          detail: { isRemoved: true },
        });
        await announceOfProfile(unit, profileId, `user.${kind}_changed`, { url: null, sizes: null, updatedAt: null });
      });
      return null;
    },

    /** @throws {AppError} not_found where the person is no member of that application, as where there is no picture. */
    async find(applicationSlug: string, userId: string, file: string): Promise<StoredVariant> {
      const name = VARIANTS.get(file);
      const found = name && (await findVariantOfMember(db.reader, { applicationSlug, userId, ...name }));
      if (!found) throw new AppError('not_found');
      return found;
    },
  };
}

function updatedAtOf({ avatarUpdatedAt, bannerUpdatedAt }: User, kind: ImageKind): number | null {
  return kind === 'avatar' ? avatarUpdatedAt : bannerUpdatedAt;
}

interface Columns {
  readonly sizes: number[] | null;
  readonly updatedAt: number | null;
}

/** @param atLeast what the user's own time must not stand before. */
async function setColumns(unit: Unit, user: User, kind: ImageKind, columns: Columns, atLeast: number): Promise<void> {
  const { sizes, updatedAt } = columns;
  await updateUser(unit, user.id, {
    ...(kind === 'avatar'
      ? { avatarSizes: sizes, avatarUpdatedAt: updatedAt }
      : { bannerSizes: sizes, bannerUpdatedAt: updatedAt }),
    updatedAt: Math.max(user.updatedAt, atLeast),
  });
}
