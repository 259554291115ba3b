/** Pictures of people, one row per variant. The person's row has their sizes and update times. */
import { and, eq, inArray, isNull, notInArray, or, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { type IMAGE_KINDS, userImages } from './schema/account.ts';
import { applications, formerSlugs } from './schema/applications.ts';
import { applicationUsers, users } from './schema/users.ts';

export { IMAGE_KINDS } from './schema/account.ts';

const { placeholder } = sql;

export type ImageKind = (typeof IMAGE_KINDS)[number];

export interface StoredVariant {
  readonly updatedAt: number;
  readonly bytes: Buffer;
}

const variantOfMember = prepared((db) =>
  db
    .select({ updatedAt: userImages.updatedAt, bytes: userImages.bytes })
    .from(userImages)
    .innerJoin(users, eq(users.id, userImages.userId))
    .innerJoin(
      applicationUsers,
      or(
        and(eq(applicationUsers.userId, users.id), isNull(applicationUsers.reservedEmail)),
        eq(applicationUsers.profileUserId, users.id),
      ),
    )
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(
      and(
        eq(applicationUsers.userId, placeholder('userId')),
        eq(userImages.kind, placeholder('kind')),
        eq(userImages.size, placeholder('size')),
        isNull(users.deletedAt),
        or(
          eq(applications.slug, placeholder('applicationSlug')),
          inArray(
            applications.id,
            db
              .select({ id: formerSlugs.applicationId })
              .from(formerSlugs)
              .where(eq(formerSlugs.slug, placeholder('applicationSlug'))),
          ),
        ),
        isNull(applications.deletedAt),
        notInArray(applicationUsers.status, ['left', 'deleted']),
      ),
    )
    .prepare(),
);

/** Returns a picture variant of a member of this application, by its current or a former slug; of nobody else. */
export async function findVariantOfMember(
  reader: Reader,
  variant: {
    readonly applicationSlug: string;
    readonly userId: string;
    readonly kind: ImageKind;
    readonly size: number;
  },
): Promise<StoredVariant | undefined> {
  const [found] = await variantOfMember(reader, { ...variant });
  return found;
}

export async function replaceVariants(
  unit: Unit,
  { userId, kind, updatedAt }: { readonly userId: string; readonly kind: ImageKind; readonly updatedAt: number },
  variants: readonly { readonly size: number; readonly bytes: Buffer }[],
): Promise<void> {
  await deleteVariants(unit, userId, kind);
  for (const { size, bytes } of variants)
    await orm(unit).insert(userImages).values({ userId, kind, size, bytes, updatedAt });
}

export async function deleteVariants(unit: Unit, userId: string, kind: ImageKind): Promise<void> {
  await orm(unit)
    .delete(userImages)
    .where(and(eq(userImages.userId, userId), eq(userImages.kind, kind)));
}

export async function deleteImagesOf(unit: Unit, userId: string): Promise<void> {
  await orm(unit).delete(userImages).where(eq(userImages.userId, userId));
}
