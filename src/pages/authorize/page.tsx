/** Consent page of a client that asks to act as the person in the console. It works without JavaScript. */
import { isoTime } from '../../core/clock.ts';
import type { Locale } from '../../core/locale.ts';
import { hyphenated } from '../../core/hyphenated.ts';
import { AUTHORIZATION_PATH, CONSENT_PATH } from '../../core/openid-paths.ts';
import type { PageApplication } from '../../http/request-context.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { ApplicationFrame } from '../components/application-frame.tsx';
import { Button } from '../components/button.tsx';
import { AccessFacts, type DeviceRequest, EndFact, Line } from '../device/request.tsx';
import { renderPage } from '../document.tsx';

/** A client that asks, and what its form sends. */
export interface ShownConsent {
  readonly client: { readonly application: PageApplication; readonly name: string; readonly kind: string };
  readonly redirectUri: string;
  readonly grants: DeviceRequest['grants'];
  /** The request as a query. */
  readonly query: string;
  readonly confirmation: string;
  /** When the key will end, in epoch milliseconds; null if only a disconnection ends it. */
  readonly keyEndsAt: number | null;
}

export interface ConsentPage extends ShownConsent {
  readonly locale: Locale;
}

export function renderConsentPage(page: ConsentPage): string {
  const { locale, client, redirectUri, grants, query, confirmation, keyEndsAt } = page;
  const text = textsFor(locale);
  const { application, kind } = client;
  const { name, email } = grants.actsAs;
  const values = { client: hyphenated(client.name), app: application.name };
  // Own parameter of the address: any account but the present one leads to the sign-in.
  const another = `${AUTHORIZATION_PATH}?${query}&account=another`;
  return renderPage({
    locale,
    title: text('openid.consentTitle', values),
    module: 'language.js',
    body: (
      <ApplicationFrame application={application} locale={locale}>
        <section class="step" id="consent">
          <h1>{text('openid.consentTitle', values)}</h1>
          <p class="lead">{text('openid.consentLead', values)}</p>
          <dl class="facts">
            {kind === 'registered' && (
              <>
                <dt>{text('openid.clientTitle')}</dt>
                <dd id="client">
                  <Line>{client.name}</Line>
                  <Line isSmall>{text('openid.clientHint')}</Line>
                </dd>
              </>
            )}
            <dt>{text('openid.returnTitle')}</dt>
            <dd id="return" translate={false}>
              <Line>{placeOf(redirectUri)}</Line>
            </dd>
            <dt>{text('device.accountTitle')}</dt>
            <dd>
              <div id="account" translate={false}>
                <Line>{name && name !== email ? name : email}</Line>
                {name && name !== email && <Line isSmall>{email}</Line>}
              </div>
              <a class="link" id="change-account" href={another}>
                {text('device.changeAccount')}
              </a>
            </dd>
            <dt>{text('device.accessTitle')}</dt>
            <dd id="access">
              <AccessFacts grants={grants} />
            </dd>
            <EndFact at={isoTime(keyEndsAt)} />
          </dl>
          <p class="warning" id="warning">
            {text('openid.warning')}
          </p>
          <form class="actions" method="post" action={CONSENT_PATH}>
            <input type="hidden" name="request" value={query} />
            <input type="hidden" name="confirmation" value={confirmation} />
            <Button id="allow" type="submit" name="decision" value="allow" aria-describedby="warning">
              {text('openid.connect')}
            </Button>
            <Button id="deny" type="submit" name="decision" value="deny" look="plain">
              {text('device.decline')}
            </Button>
          </form>
        </section>
      </ApplicationFrame>
    ),
  });
}

/** Returns the host that a redirect URI leads to; of a private-use scheme the scheme, which names the program. */
function placeOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1);
}
