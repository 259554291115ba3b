/** The sender of an application's mails, with images that mail clients can load now. */
import { uploadedImagePath } from '../core/application-images.ts';
import { type Supported, supportOf } from '../core/application-support.ts';
import type { Sender } from './letter-parts.ts';

interface Branded extends Omit<Sender, 'support'>, Supported {
  readonly id: string;
  /** Null unless deleted. */
  readonly deletedAt: unknown;
}

/** @param baseUrl this server's public URL, without a trailing slash; uploads of an earlier one are served there too. */
export function applicationSender(application: Branded, baseUrl: string): Sender {
  const { id, name, workspaceId, clientId, supportEmail, accentColor, logoUrl, logoDarkUrl, deletedAt } = application;
  const image = (url: string | null) => {
    const path = uploadedImagePath(url, id);
    // Uploads of a deleted application are not served.
    const current = path === null ? url : deletedAt === null ? baseUrl + path : null;
    return current?.startsWith('https://') ? current : null;
  };
  return {
    name,
    workspaceId,
    clientId,
    supportEmail,
    support: reachable(supportOf(application)),
    logoUrl: image(logoUrl),
    logoDarkUrl: image(logoDarkUrl),
    accentColor,
  };
}

/** Returns null for schemes that a mail must not open, such as `javascript:`. */
function reachable(support: string | null): string | null {
  return support !== null && /^(?:https?|mailto):/i.test(support) ? support : null;
}
