/** Logos and icons that applications have uploaded, instead of addresses on another host. */
import type { Actor } from '../../core/actor.ts';
import {
  type ApplicationImage,
  IMAGE_COLUMNS,
  uploadedImagePath,
  uploadedImageUrl,
} from '../../core/application-images.ts';
import { AppError } from '../../core/error.ts';
import type { Database, Unit } from '../../db/database.ts';
import {
  deleteApplicationImage,
  findApplicationImage,
  saveApplicationImage,
  type StoredImage,
} from '../../store/application-images.ts';
import { type Application, requireApplication, updateApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import type { ApplicationRecord } from '../applications/model.ts';
import { presentApplication } from '../applications/present.ts';
import type { PictureQueue } from './queue.ts';
import { renderMark } from './render-mark.ts';

export interface ApplicationImageDependencies {
  readonly db: Database;
  readonly baseUrl: () => string;
  readonly inTurn: PictureQueue;
}

export type ApplicationImages = ReturnType<typeof applicationImageService>;

/** Characters of the hash in a URL, against two images with the same URL. */
const VERSION_LENGTH = 16;

/** Callers are authorized before. Every change is audited in the same transaction. */
export function applicationImageService({ db, baseUrl, inTurn }: ApplicationImageDependencies) {
  /** Stores the image's URL, which pages and mails show. */
  async function setUrl(
    unit: Unit,
    { id, workspaceId }: Application,
    kind: ApplicationImage,
    url: string | null,
  ): Promise<ApplicationRecord> {
    const changed = await updateApplication(unit, id, { [IMAGE_COLUMNS[kind]]: url });
    await recordAudit(unit, {
      kind: 'application.updated',
      applicationId: id,
      workspaceId,
      targetId: id,
      detail: { fields: [`branding.${IMAGE_COLUMNS[kind]}`] },
    });
    return presentApplication(unit, changed, unit.now);
  }

  return {
    /** The file is consumed. @throws {AppError} invalid_request for a file that is no whole picture */
    async put(
      actor: Actor,
      application: Application,
      kind: ApplicationImage,
      file: Uint8Array,
    ): Promise<ApplicationRecord> {
      const bytes = await inTurn(() => renderMark(file, kind));
      const version = Buffer.from(Bun.SHA256.hash(bytes) as Uint8Array)
        .toString('hex')
        .slice(0, VERSION_LENGTH);
      const { id: applicationId } = application;
      return db.write(actor, async (unit) => {
        await saveApplicationImage(unit, { applicationId, kind, version, bytes });
        return setUrl(unit, application, kind, uploadedImageUrl(baseUrl(), applicationId, kind, version));
      });
    },

    /** Idempotent. Keeps an address on another host. */
    remove(actor: Actor, { id }: Application, kind: ApplicationImage): Promise<ApplicationRecord> {
      return db.write(actor, async (unit) => {
        const application = await requireApplication(unit, id);
        await deleteApplicationImage(unit, { applicationId: id, kind });
        return uploadedImagePath(application[IMAGE_COLUMNS[kind]], id) === null
          ? presentApplication(unit, application, unit.now)
          : setUrl(unit, application, kind, null);
      });
    },

    /** @throws {AppError} not_found without an image, and of a deleted application. */
    async find(applicationId: string, kind: ApplicationImage | undefined): Promise<StoredImage> {
      const found = kind && (await findApplicationImage(db.reader, { applicationId, kind }));
      if (!found) throw new AppError('not_found');
      return found;
    },
  };
}
