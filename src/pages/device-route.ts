/** The address that devices send people to: the code's form, or the page behind a code, and the watch over guesses. */

import { isClosed } from '../core/application-state.ts';
import { AppError } from '../core/error.ts';
import { LIMITS, type LimitSettings } from '../http/limits.ts';
import { type Operation, operation } from '../http/operation.ts';
import { pageHeaders, pageResponse } from '../http/page-response.ts';
import { applyLimit, type RateLimiter } from '../http/rate-limit.ts';
import { addressBlock, type RequestContext } from '../http/request-context.ts';
import { queryOf } from '../http/request-url.ts';
import type { Application } from '../store/applications.ts';
import { renderDeviceCodePage, renderDevicePage } from './device.ts';
import { localeOf } from './page-locale.ts';
import { formatUserCode, normalizeUserCode } from '../core/user-code.ts';
import { ownAddress, waysInto, type WaysInDependencies } from './ways-in.ts';

export interface DevicePageDependencies extends WaysInDependencies {
  /** The application whose device shows this code, as long as the code is alive. */
  readonly findDeviceGrant: (userCode: string) => Promise<Application | null>;
  readonly limiter: RateLimiter;
  readonly limits: LimitSettings;
}

export function devicePageRoute(dependencies: DevicePageDependencies): Operation {
  const { findDeviceGrant, limiter } = dependencies;
  const { wrongDeviceCodesPerAddress: allowed } = dependencies.limits;

  /** @throws {AppError} rate_limited where this address has tried too many that were wrong. */
  async function find(userCode: string, { ip, headers }: RequestContext): Promise<Application | null> {
    const subject = addressBlock(ip);
    applyLimit(headers, limiter.peek(LIMITS.wrongDeviceCodesPerAddress, subject, allowed));
    const application = await findDeviceGrant(userCode);
    // Others may have been wrong meanwhile: right ones are refused as well from the same guess on.
    const count = application ? limiter.peek : limiter.consume;
    applyLimit(headers, count(LIMITS.wrongDeviceCodesPerAddress, subject, allowed));
    return application;
  }

  return operation({
    id: 'devicePage',
    tag: 'Pages',
    method: 'GET',
    path: '/device',
    summary: 'Where people connect a device by the code it shows',
    access: 'none',
    scope: 'instance',
    style: 'page',
    isUndocumented: true,
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
      if (isClosed(application)) throw new AppError('application_archived');
      const own = ownAddress('/device', { code: userCode, locale: query.get('locale') });
      const ways = await waysInto(application, { own }, dependencies);
      return pageResponse(context, renderDevicePage({ locale, userCode, application, ways }));
    },
  });
}
