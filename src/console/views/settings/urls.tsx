/** The addresses of an application: where a sign-in may lead, and where its rules can be read. */
import type { ApplicationViewProps } from '../../views.tsx';
import { LegalUrls } from './legal-urls.tsx';
import { ReturnUrls } from './return-urls.tsx';

export function Urls({ application }: ApplicationViewProps) {
  return (
    <div class="settings-parts">
      <ReturnUrls application={application} />
      <LegalUrls application={application} />
    </div>
  );
}
