/** Uploaded logos and icons of applications, one row per kind. */
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { ApplicationImage } from '../core/application-images.ts';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { applicationImages, applications } from './schema/applications.ts';

const { placeholder } = sql;

export interface StoredImage {
  readonly version: string;
  readonly bytes: Buffer;
}

interface ImageKey {
  readonly applicationId: string;
  readonly kind: ApplicationImage;
}

const imageOfApplication = prepared((db) =>
  db
    .select({ version: applicationImages.version, bytes: applicationImages.bytes })
    .from(applicationImages)
    .innerJoin(applications, eq(applications.id, applicationImages.applicationId))
    .where(
      and(
        eq(applicationImages.applicationId, placeholder('applicationId')),
        eq(applicationImages.kind, placeholder('kind')),
        isNull(applications.deletedAt),
      ),
    )
    .prepare(),
);

/** Returns the image of an application that is not deleted. */
export async function findApplicationImage(reader: Reader, key: ImageKey): Promise<StoredImage | undefined> {
  const [found] = await imageOfApplication(reader, { ...key });
  return found;
}

export async function saveApplicationImage(unit: Unit, image: ImageKey & StoredImage): Promise<void> {
  const { version, bytes } = image;
  await orm(unit)
    .insert(applicationImages)
    .values(image)
    .onConflictDoUpdate({
      target: [applicationImages.applicationId, applicationImages.kind],
      set: { version, bytes },
    });
}

export async function deleteApplicationImage(unit: Unit, { applicationId, kind }: ImageKey): Promise<void> {
  await orm(unit)
    .delete(applicationImages)
    .where(and(eq(applicationImages.applicationId, applicationId), eq(applicationImages.kind, kind)));
}
