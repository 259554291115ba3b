/** Branding of an application: its columns, and its uploads that are shown no more. */
import { APPLICATION_IMAGES, IMAGE_COLUMNS, uploadedImagePath } from '../../core/application-images.ts';
import { normalizeEmail } from '../../core/email.ts';
import { invalidField } from '../../core/error.ts';
import type { Unit } from '../../db/database.ts';
import { deleteApplicationImage } from '../../store/application-images.ts';
import type { Application } from '../../store/applications.ts';
import { type ApplicationInput, SUPPORT_EMAIL_REMEDY } from './model.ts';

type Branding = ApplicationInput['branding'];

/** Undefined ones keep their value. @throws {AppError} invalid_request for a support address that is none. */
export function brandingColumns(branding: Branding) {
  return { ...branding, supportEmail: normalSupportEmail(branding?.supportEmail) };
}

/** Deletes uploads that another address has replaced. */
export async function dropUnusedImages(unit: Unit, changed: Application, branding: Branding): Promise<void> {
  for (const kind of APPLICATION_IMAGES) {
    const column = IMAGE_COLUMNS[kind];
    if (branding?.[column] !== undefined && uploadedImagePath(changed[column], changed.id) === null)
      await deleteApplicationImage(unit, { applicationId: changed.id, kind });
  }
}

function normalSupportEmail(text: string | null | undefined): string | null | undefined {
  if (text == null) return text;
  const email = normalizeEmail(text);
  if (email === null) throw invalidField('branding.supportEmail', SUPPORT_EMAIL_REMEDY);
  return email;
}
