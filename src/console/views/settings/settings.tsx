/** Settings of an application, in parts with their own addresses. */
import type { ComponentType } from 'preact';
import { Link } from 'wouter-preact';
import { addresses, useOpen } from '../../address.ts';
import { NothingHere } from '../../components/nothing-here.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useTabInView } from '../../components/tabs-in-view.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { AccountViewSettings } from './account-view.tsx';
import { Branding } from './branding.tsx';
import { General } from './general.tsx';
import { Lifecycle } from './lifecycle.tsx';
import { Mails } from './mails.tsx';
import { OpenId } from './openid.tsx';
import { SignInSettings } from './sign-in-settings.tsx';
import { Stage } from './stage.tsx';
import { useLeaveWarning } from './unsaved.ts';
import { Urls } from './urls.tsx';

interface Part {
  readonly name: string;
  readonly title: string;
  readonly View: ComponentType<ApplicationViewProps>;
}

const PARTS: readonly Part[] = [
  { name: 'general', title: 'General', View: General },
  { name: 'branding', title: 'Branding', View: Branding },
  { name: 'mails', title: 'Mails', View: Mails },
  { name: 'sign-in', title: 'Sign-in', View: SignInSettings },
  { name: 'account', title: 'Account page', View: AccountViewSettings },
  { name: 'urls', title: 'URLs', View: Urls },
  { name: 'openid', title: 'OpenID', View: OpenId },
  { name: 'stage', title: 'Stage', View: Stage },
  { name: 'lifecycle', title: 'Lifecycle', View: Lifecycle },
];

export function Settings({ application }: ApplicationViewProps) {
  const [open = 'general'] = useOpen();
  useLeaveWarning();
  const part = PARTS.find(({ name }) => name === open);
  const tabs = useTabInView(open);
  if (!part) return <NothingHere />;
  return (
    <>
      <PageHead title="Settings" lead={<span dir="auto">{application.name}</span>} />
      <nav class="tabs settings-tabs" aria-label="Settings" ref={tabs}>
        {PARTS.map(({ name, title }) => (
          <Link
            key={name}
            href={addresses.application(application.id, 'settings', name)}
            aria-current={name === open ? 'page' : undefined}
          >
            {title}
          </Link>
        ))}
      </nav>
      <part.View key={open} application={application} />
    </>
  );
}
