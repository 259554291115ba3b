/**
 * Preview of the sign-in page in light and dark. Its CSP forbids framing, so its components render in shadow trees,
 * which isolate their style from the console's.
 */
import { render } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { createTexts } from '../../../i18n/texts.ts';
import { accentPath, accentStyle } from '../../../pages/accent.ts';
import { ApplicationBrand } from '../../../pages/components/application-mark.tsx';
import { Frame } from '../../../pages/components/frame.tsx';
import { TextsProvider } from '../../../pages/components/texts.tsx';
import type { SignInData } from '../../../pages/sign-in/offer.ts';
import { MethodsStep } from '../../../pages/sign-in/methods-step.tsx';
import type { Schemas } from '../../api.ts';
import { pageStyle, signInMessages } from './preview-parts.ts' with { type: 'macro' };

type Scheme = 'light' | 'dark';

interface SignInPreviewProps {
  readonly application: Schemas['Application'];
  readonly logoUrl: string | null;
  /** Null where it is the same. */
  readonly logoDarkUrl: string | null;
  readonly accentColor: string | null;
  /** Null without an active provider. */
  readonly providerName: string | null;
}

const texts = createTexts('en', signInMessages());
const style = pageStyle();

/** Overrides for rendering in a box instead of a window. */
const BOX_STYLE = '#page { min-height: 0 } main { padding: 32px 20px 24px } .step { animation: none }';

export function SignInPreview(props: SignInPreviewProps) {
  return (
    <div class="previews">
      <Preview scheme="light" title="Light" data={dataOf(props, 'light')} />
      <Preview scheme="dark" title="Dark" data={dataOf(props, 'dark')} />
    </div>
  );
}

interface PreviewProps {
  readonly scheme: Scheme;
  readonly title: string;
  readonly data: SignInData;
}

function Preview({ scheme, title, data }: PreviewProps) {
  const host = useRef<HTMLDivElement>(null);
  const { accentColor } = data.application;
  useLayoutEffect(() => {
    const root = rootOf(host);
    const path = accentColor === null ? null : accentPath(accentColor);
    const accent = (path && accentStyle(path)) ?? '';
    root.adoptedStyleSheets = [style, accent, BOX_STYLE].map((css) => sheetFor(css, scheme));
  }, [accentColor]);
  useLayoutEffect(() => render(<Page data={data} />, rootOf(host)));
  useLayoutEffect(() => () => void (host.current?.shadowRoot && render(null, host.current.shadowRoot)), []);
  return (
    <figure class="preview" data-scheme={scheme}>
      <div class="preview-page" id={`preview-${scheme}`} ref={host} inert />
      <figcaption class="fine">{title}</figcaption>
    </figure>
  );
}

function rootOf(host: { readonly current: HTMLElement | null }): ShadowRoot {
  if (!host.current) throw new Error('the preview has no place');
  return host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
}

function Page({ data }: Pick<PreviewProps, 'data'>) {
  const { application, methods } = data;
  return (
    <TextsProvider texts={texts}>
      <div id="page">
        <Frame
          brand={<ApplicationBrand key={application.logoUrl} {...application} />}
          links={application.links}
          locale={data.locale}
        >
          <section class="step">
            <h1>{texts('signin.title', { app: application.name })}</h1>
            <p class="lead">{texts(methods.isCodeAllowed ? 'signin.lead' : 'signin.leadWithoutCode')}</p>
            <MethodsStep
              data={data}
              email=""
              error={null}
              hint={null}
              isSending={false}
              isFocused={false}
              passkey={{ isUsable: methods.passkeyHost !== null, busy: null, ask() {}, cancel() {} }}
              onEmail={() => {}}
              onSubmit={() => {}}
            />
          </section>
        </Frame>
      </div>
    </TextsProvider>
  );
}

/** Chooses the logo here: its media query would follow the console's scheme. */
function dataOf(props: SignInPreviewProps, scheme: Scheme): SignInData {
  const { application, logoUrl, logoDarkUrl, accentColor, providerName } = props;
  const { id, clientId, name, legalUrls, signinMethods } = application;
  const isProviderShown = signinMethods.includes('provider') && providerName !== null;
  return {
    locale: 'en',
    application: {
      id,
      clientId,
      name,
      logoUrl: (scheme === 'dark' ? logoDarkUrl : null) ?? logoUrl,
      logoDarkUrl: null,
      iconUrl: null,
      accentColor,
      state: null,
      homeUrl: null,
      supportUrl: null,
      links: legalUrls,
    },
    methods: {
      isCodeAllowed: signinMethods.includes('otp'),
      passkeyHost: signinMethods.includes('passkey') ? location.hostname : null,
      provider: isProviderShown ? { name: providerName, startUrl: '#' } : null,
    },
    isPasskeyFirst: false,
    wrongTriesPerCode: 0,
    isMailOff: false,
    isDev: false,
  };
}

/** Adapts the document's style sheet to a shadow tree with a fixed colour scheme. */
function sheetFor(css: string, scheme: Scheme): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  for (const rule of sheet.cssRules) adapt(rule, scheme);
  return sheet;
}

function adapt(rule: CSSRule, scheme: Scheme): void {
  if (rule instanceof CSSStyleRule) rule.selectorText = rule.selectorText.replace(/:root|\b(?:html|body)\b/g, ':host');
  if (!(rule instanceof CSSMediaRule)) return;
  if (rule.conditionText.includes('prefers-color-scheme')) rule.media.mediaText = scheme === 'dark' ? 'all' : 'not all';
  for (const internal of rule.cssRules) adapt(internal, scheme);
}
