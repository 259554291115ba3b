import type { ApplicationViewProps } from '../../application-view.ts';
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
