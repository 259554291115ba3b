/** The pages of a device's sign-in: one that takes its code, and one where its request is decided (RFC 8628 §3.3). */

import { format } from '../core/format.ts';
import { html } from '../core/html.ts';
import type { Locale } from '../core/locale.ts';
import { catalogueFor } from '../i18n/catalogue.ts';
import { applicationMark, type ShownApplication } from './application.ts';
import { gateMark, renderPage } from './layout.ts';
import type { DeviceCodePageData, DevicePageData } from './page-data.ts';
import { signInPart } from './sign-in-part.ts';
import type { SignInOffer } from './ways-in.ts';

/** What the page for the code shows. */
export interface DeviceCodePage {
  locale: Locale;
  /** What was given and is no good, as it should stand in the field; null where nothing was. */
  wrongCode: string | null;
}

/** The page that asks for the code, for whoever has typed the address that their device shows. */
export function renderDeviceCodePage({ locale, wrongCode }: DeviceCodePage): string {
  const { locale: language, texts } = catalogueFor(locale);
  const { device: text } = texts;
  const data: DeviceCodePageData = { text };
  const isWrong = wrongCode !== null;
  return renderPage({
    locale: language,
    title: text.title,
    brand: html`<span class="tile">${gateMark}</span>`,
    script: { asset: 'device-code.js', data, neededText: text.scriptNeeded },
    body: html`<h1>${text.title}</h1>
      <p class="lead" id="lead">${text.lead}</p>
      <p class="message" id="message" role="alert">${isWrong && text.codeUnknown}</p>
      <form id="device-form" method="post" novalidate>
        <label for="user-code">${text.codeLabel}</label>
        <input
          class="code user-code"
          id="user-code"
          name="code"
          type="text"
          value="${wrongCode}"
          placeholder="XXXX-XXXX"
          autocomplete="off"
          autocapitalize="characters"
          autocorrect="off"
          spellcheck="false"
          maxlength="32"
          required
          autofocus
          aria-describedby="lead message"
          ${isWrong && html` aria-invalid="true"`}
        />
        <button class="primary" type="submit">${text.continue}</button>
      </form>
      <p class="visually-hidden" id="announcer" role="status"></p>`,
  });
}

/** What the page behind a good code shows. */
export interface DevicePageContent {
  locale: Locale;
  /** As it is shown: `BCDF-GHJK`. */
  userCode: string;
  application: ShownApplication;
  ways: SignInOffer;
}

/** The page behind a good code: signing in, what the device asks for, and the decision. */
export function renderDevicePage({ locale, userCode, application, ways }: DevicePageContent): string {
  const { locale: language, texts } = catalogueFor(locale);
  const { signin, device: text, errors } = texts;
  const { name: appName, clientId } = application;
  const title = format(signin.title, { app: appName });
  const [before, after] = text.signInLead.split('{code}');
  const data: DevicePageData = {
    locale,
    clientId,
    appName,
    passkeyHost: ways.passkeyHost,
    userCode,
    text: signin,
    device: text,
    errors,
  };
  const lead = html`${before}<strong translate="no">${userCode}</strong>${after}`;
  return renderPage({
    locale: language,
    title: text.title,
    brand: applicationMark(application),
    accentColor: application.accentColor,
    script: { asset: 'device.js', data, neededText: text.scriptNeeded },
    body: html`${signInPart({ text: signin, appName, title, lead, ways })}
      <section id="checking" hidden><p class="lead">${text.checking}</p></section>
      <section id="confirm" hidden>
        <h1 tabindex="-1">${text.confirmTitle}</h1>
        <p class="lead">${format(text.confirmLead, { app: appName })}</p>
        <dl class="facts">
          <dt>${text.codeTitle}</dt>
          <dd>
            <div class="shown-code" translate="no">${userCode}</div>
            <div class="fine">${text.codeHint}</div>
          </dd>
          <dt>${text.accountTitle}</dt>
          <dd>
            <div id="account" translate="no"></div>
            <button class="link" id="change-account" type="button">${text.changeAccount}</button>
          </dd>
          <dt>${text.deviceTitle}</dt>
          <dd id="device"></dd>
          <dt>${text.accessTitle}</dt>
          <dd id="access"></dd>
        </dl>
        <p class="warning" id="warning">${text.warning}</p>
        <button class="primary" id="approve" type="button" aria-describedby="warning">${text.confirm}</button>
        <button class="way" id="deny" type="button">${text.decline}</button>
      </section>
      <section id="approved" hidden>
        ${doneMark}
        <h1 tabindex="-1">${text.approvedTitle}</h1>
        <p class="lead">${text.approved}</p>
      </section>
      <section id="declined" hidden>
        <h1 tabindex="-1">${text.declinedTitle}</h1>
        <p class="lead">${text.declined}</p>
      </section>
      <section id="failed" hidden>
        <h1 tabindex="-1">${text.failedTitle}</h1>
        <p class="lead" id="failed-text"></p>
        <button class="primary" id="retry" type="button" hidden>${text.tryAgain}</button>
        <a class="way" href="/device">${text.enterCode}</a>
      </section>`,
  });
}

const doneMark = html`<svg class="done-mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
  <circle cx="12" cy="12" r="11" fill="currentColor" opacity="0.14" />
  <path
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
    d="M7.5 12.5l3 3 6-6.5"
  />
</svg>`;
