/** Layout of pages without props for a script: brand, colours and links of an application, or Gatehouse's own. */
import type { ComponentChildren } from 'preact';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import type { Locale } from '../../core/locale.ts';
import type { PageApplication } from '../../http/request-context.ts';
import { brandOf } from '../application-brand.ts';
import { ApplicationMark, ProductMark } from './application-mark.tsx';
import { Frame } from './frame.tsx';
import { hyphenated } from '../../core/hyphenated.ts';

interface ApplicationFrameProps {
  /** Null where the page belongs to none. */
  readonly application: PageApplication | null;
  /** Absent where the page cannot be loaded again, so has no language switch. */
  readonly locale?: Locale | undefined;
  readonly children: ComponentChildren;
}

/** Names the application, since headings of these pages do not. */
export function ApplicationFrame({ application, locale, children }: ApplicationFrameProps) {
  const language = locale && { locale };
  if (application === null || application.clientId === CONSOLE_CLIENT_ID)
    return (
      <Frame brand={<ProductMark />} {...language}>
        {children}
      </Frame>
    );
  const { name, termsUrl, privacyUrl, imprintUrl } = application;
  const brand = (
    <>
      <ApplicationMark name={name} {...brandOf(application)} />
      <span class="brand-name" dir="auto">
        {hyphenated(name)}
      </span>
    </>
  );
  return (
    <Frame brand={brand} links={{ terms: termsUrl, privacy: privacyUrl, imprint: imprintUrl }} {...language}>
      {children}
    </Frame>
  );
}
