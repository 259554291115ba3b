/** Preview of a mail: sender and subject as an inbox lists them, the document in light and dark, and the text part. */
import type { Locale } from '../../../core/locale.ts';
import { api, ask, type Schemas } from '../../api.ts';
import { Facts } from '../../components/facts.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { useLoaded } from '../../data.ts';
import { useSettled } from './use-settled.ts';

interface MailPreviewProps {
  readonly applicationId: string;
  readonly mail: Schemas['MailKind'];
  readonly locale: Locale;
  readonly line: string;
}

export function MailPreview({ applicationId: id, mail, locale, line }: MailPreviewProps) {
  const settled = useSettled(line.trim());
  const query = { mail, locale, ...(settled !== '' && { line: settled }) };
  const { data, failure } = useLoaded(
    () => ask(api.GET('/api/applications/{id}/mail-lines/preview', { params: { path: { id }, query } })),
    [id, mail, locale, settled],
  );
  // The line's problem is shown below its field once it is saved.
  if (failure) return <FailureNote failure={failure} />;
  const look = `/api/applications/${id}/mail-lines/preview/look?${new URLSearchParams(query)}`;
  return (
    <>
      <Facts
        of={[
          ['From', <span dir="auto">{data?.sender ?? '…'}</span>],
          data?.replyTo != null && ['Answers go to', data.replyTo],
          ['Subject', <span dir="auto">{data?.subject ?? '…'}</span>],
        ]}
      />
      <div class="previews mail-previews">
        <Look scheme="light" title="Light" src={look} />
        <Look scheme="dark" title="Dark" src={look} />
      </div>
      <h3 class="mail-part">Plain text</h3>
      <pre class="mail-text" id="mail-preview-text" dir="auto" lang={locale} tabIndex={0}>
        {data?.text.trim() ?? '…'}
      </pre>
    </>
  );
}

interface LookProps {
  readonly scheme: 'light' | 'dark';
  readonly title: string;
  readonly src: string;
}

/** Frames the mail without scripts or navigation. The frame's colour scheme selects that of the mail. */
function Look({ scheme, title, src }: LookProps) {
  return (
    <figure class="preview" data-scheme={scheme}>
      <iframe
        class="preview-page preview-mail"
        id={`mail-preview-${scheme}`}
        title={`Mail in ${title.toLowerCase()} mode`}
        sandbox=""
        src={src}
      />
      <figcaption class="fine">{title}</figcaption>
    </figure>
  );
}
