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
import { publishOfProfile } from '../users/publish.ts';
import type { Image } from './model.ts';
import type { PictureQueue } from './queue.ts';
import { render, type Variant } from './render.ts';
import { SHAPES, VARIANTS } from './variants.ts';

export interface ImageDependencies {
  readonly db: Database;
  readonly cdnUrl: () => string;
  readonly inTurn: PictureQueue;
}

export type Images = ReturnType<typeof imageService>;

export function imageService({ db, cdnUrl, inTurn }: ImageDependencies) {
  function urlIn(applicationSlug: string, userId: string, kind: ImageKind, size: number, updatedAt: number): string {
    return imageUrl({ cdnUrl: cdnUrl(), applicationSlug, userId, kind, size, updatedAt });
  }

  async function store(unit: Unit, user: User, kind: ImageKind, variants: readonly Variant[]): Promise<number> {
    const { sizes, shownSize } = SHAPES[kind];
    // URLs are cached for good, so no two pictures may share a time, even if the clock goes back.
    const before = updatedAtOf(user, kind);
    const updatedAt = Math.max(unit.now, before === null ? user.updatedAt : before + 1);
    await replaceVariants(unit, { userId: user.id, kind, updatedAt }, variants);
    await setColumns(unit, user, kind, { sizes: [...sizes], updatedAt }, unit.now);
    await publishOfProfile(unit, user.id, `user.${kind}_changed`, ({ slug }, userId) => ({
      url: urlIn(slug, userId, kind, shownSize, updatedAt),
      sizes: [...sizes],
      updatedAt: isoTime(updatedAt),
    }));
    return updatedAt;
  }

  return {
    /** Stores all sizes or none; the file is consumed. @throws {AppError} invalid_request, unauthenticated */
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
        // Keeps the next picture's time later than this one's.
        await setColumns(unit, user, kind, { sizes: null, updatedAt: null }, Math.max(unit.now, updatedAt + 1));
        await recordAudit(unit, {
          kind: `account.${kind}_changed`,
          applicationId,
          userId,
          detail: { isRemoved: true },
        });
        await publishOfProfile(unit, profileId, `user.${kind}_changed`, { url: null, sizes: null, updatedAt: null });
      });
      return null;
    },

    /** @throws {AppError} not_found both without a picture and if the person is no member of the application. */
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

/** @param atLeast lower bound of the user's `updatedAt`. */
async function setColumns(unit: Unit, user: User, kind: ImageKind, columns: Columns, atLeast: number): Promise<void> {
  const { sizes, updatedAt } = columns;
  await updateUser(unit, user.id, {
    ...(kind === 'avatar'
      ? { avatarSizes: sizes, avatarUpdatedAt: updatedAt }
      : { bannerSizes: sizes, bannerUpdatedAt: updatedAt }),
    updatedAt: Math.max(user.updatedAt, atLeast),
  });
}
