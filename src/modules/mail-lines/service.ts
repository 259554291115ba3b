/** An application's own lines in its mails: plain text above the foot, one for each kind of mail and language. */
import type { Actor } from '../../core/actor.ts';
import type { Clock } from '../../core/clock.ts';
import { invalidField } from '../../core/error.ts';
import { looksLikeCode } from '../../core/mail-kinds.ts';
import type { Database, Unit } from '../../db/database.ts';
import { applicationSender } from '../../mail/application-sender.ts';
import type { MailContent } from '../../mail/letter.tsx';
import { previewMail } from '../../mail/preview.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { deleteMailLine, listMailLines, saveMailLine } from '../../store/mail-lines.ts';
import type { MailLineInput, MailLines, MailPreviewQuery } from './model.ts';

export interface MailLineDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly baseUrl: () => string;
}

export type MailLineService = ReturnType<typeof mailLineService>;

export function mailLineService({ db, clock, baseUrl }: MailLineDependencies) {
  const list = async (unit: Unit | Database['reader'], { id }: Application): Promise<MailLines> => ({
    lines: await listMailLines(unit, id),
  });

  return {
    /** Returns at most one line for each kind of mail and language. */
    list: (application: Application): Promise<MailLines> => list(db.reader, application),

    /** Replaces or, with null, removes a line. @throws {AppError} invalid_request for a line that looks like a code */
    set(actor: Actor, application: Application, { mail, locale, line }: MailLineInput): Promise<MailLines> {
      const text = line?.trim() ?? null;
      if (text !== null) refuseCode(text);
      const { id: applicationId, workspaceId } = application;
      const place = { applicationId, mail, locale };
      return db.write(actor, async (unit) => {
        if (text === null) await deleteMailLine(unit, place);
        else await saveMailLine(unit, { ...place, line: text });
        const detail = { fields: [`mailLines.${mail}.${locale}`] };
        await recordAudit(unit, {
          kind: 'application.updated',
          applicationId,
          workspaceId,
          targetId: applicationId,
          detail,
        });
        return list(unit, application);
      });
    },

    /** Draws the mail with sample values and this line. @throws {AppError} invalid_request */
    preview(application: Application, { mail, locale, line = '' }: MailPreviewQuery): MailContent {
      refuseCode(line);
      const text = line.trim() || null;
      const sender = applicationSender(application, baseUrl());
      return previewMail({ mail, locale, application: sender, line: text, baseUrl: baseUrl(), at: clock.now() });
    },
  };
}

function refuseCode(line: string): void {
  if (looksLikeCode(line))
    throw invalidField('line', 'Write long numbers in groups: six digits in a row look like a code.');
}
