/** Routes of the device pages: the code form or the confirmation, with a rate limit on wrong codes. */

import { isClosed } from '../../core/application-state.ts';
import { AppError } from '../../core/error.ts';
import { limitGuess } from '../../http/guess-limit.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { pageHeaders, pageResponse } from '../../http/page-response.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import { addressPrefix } from '../../core/ip-address.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { queryOf } from '../../http/request-url.ts';
import type { Application } from '../../store/applications.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { renderPage } from '../document.tsx';
import { HOSTED_PAGE } from '../hosted-page.ts';
import { localeOf } from '../page-locale.ts';
import { hasStepHint } from '../step-hint.ts';
import { formatUserCode, normalizeUserCode } from '../../core/user-code.ts';
import { ownAddress, signInDataFor, type SignInDataDependencies } from '../sign-in/sign-in-data.ts';
import { DeviceCodePage, type DeviceCodePageProps } from './code-page.tsx';
import { ConnectPage, type DevicePageProps } from './page.tsx';

export interface DevicePageDependencies extends SignInDataDependencies {
  /** Returns the application whose device shows this code, while the code is valid. */
  readonly findDeviceGrant: (userCode: string) => Promise<Application | null>;
  readonly limiter: RateLimiter;
  readonly limits: LimitSettings;
}

export function devicePageRoute(dependencies: DevicePageDependencies): Operation {
  const { findDeviceGrant, limiter } = dependencies;
  const { wrongDeviceCodesPerAddress: allowed } = dependencies.limits;

  /** @throws {AppError} rate_limited after too many wrong codes from this address. */
  function find(userCode: string, { ip, headers }: RequestContext): Promise<Application | null> {
    const subject = addressPrefix(ip);
    const limit = { bucket: LIMITS.wrongDeviceCodesPerAddress, subject, limit: allowed };
    return limitGuess(limiter, headers, [limit], () => findDeviceGrant(userCode));
  }

  return operation({
    ...HOSTED_PAGE,
    id: 'devicePage',
    method: 'GET',
    path: '/device',
    summary: 'Where people connect a device by the code it shows',
    limit: 'device_page',
    async handle({ context }) {
      const query = queryOf(context.request);
      const locale = localeOf(context);
      const typed = query.get('code')?.trim() ?? '';
      if (typed === '') return pageResponse(context, renderDeviceCodePage({ locale, wrongCode: null }));

      const code = normalizeUserCode(typed);
      const application = code === null ? null : await find(code, context);
      const userCode = formatUserCode(typed);
      if (application === null) {
        const page = renderDeviceCodePage({ locale, wrongCode: userCode });
        return new Response(page, { status: 404, headers: pageHeaders(context) });
      }
      context.application = application;
      if (isClosed(application)) throw new AppError('application_archived');
      const own = ownAddress('/device', { code: userCode, locale: query.get('locale') });
      const data = await signInDataFor({ application, locale, own, request: context.request }, dependencies);
      return pageResponse(context, renderDevicePage({ ...data, userCode }, hasStepHint(context.request)));
    },
  });
}

export function renderDeviceCodePage(props: DeviceCodePageProps): string {
  return renderPage({
    locale: props.locale,
    title: textsFor(props.locale)('device.title'),
    script: { asset: 'device-code.js', props, services: ['device', 'signin'] },
    body: <DeviceCodePage {...props} />,
  });
}

export function renderDevicePage(props: DevicePageProps, isContinued = false): string {
  return renderPage({
    locale: props.locale,
    title: textsFor(props.locale)('device.title'),
    brand: props.application,
    script: { asset: 'device.js', props, services: ['device', 'signin', 'errors'] },
    isContinued,
    body: <ConnectPage {...props} />,
  });
}
