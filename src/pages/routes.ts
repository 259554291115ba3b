/** The hosted pages and their assets. */
import { AppError } from '../core/error.ts';
import { type Operation, operation } from '../http/operation.ts';
import { accentStyle } from './accent.ts';
import { assetResponse, findAsset } from './assets.ts';
import { type AccountPageDependencies, accountPageRoutes } from './account/route.tsx';
import { type DevicePageDependencies, devicePageRoute } from './device/route.tsx';
import { HOSTED_PAGE } from './hosted-page.ts';
import { type SetupPageDependencies, setupPageRoute } from './setup/route.tsx';
import { type SignInPageDependencies, signInPageRoute } from './sign-in/route.tsx';
import { type UndoPageDependencies, undoPageRoutes } from './undo/route.tsx';

export interface PageDependencies
  extends
    AccountPageDependencies,
    SignInPageDependencies,
    DevicePageDependencies,
    SetupPageDependencies,
    UndoPageDependencies {}

export function pageRoutes(dependencies: PageDependencies): Operation[] {
  return [
    signInPageRoute(dependencies),
    setupPageRoute(dependencies),
    devicePageRoute(dependencies),
    ...accountPageRoutes(dependencies),
    ...undoPageRoutes(dependencies),
    operation({
      ...HOSTED_PAGE,
      id: 'homePage',
      method: 'GET',
      path: '/',
      summary: 'Sends people to the console',
      limit: 'none',
      handle: ({ context }) =>
        new Response(null, { status: 302, headers: { ...context.headers, Location: '/console' } }),
    }),
    operation({
      ...HOSTED_PAGE,
      id: 'asset',
      method: 'GET',
      path: '/assets/:name',
      summary: 'A script or style of the pages, by hashed name; or the colours made of one, by its digits',
      limit: 'none',
      handle({ context, params }) {
        const path = `/assets/${params.name}`;
        const asset = findAsset(path);
        const style = asset ? null : accentStyle(path);
        const response = asset ? assetResponse(context.request, asset) : style && styleResponse(style);
        if (!response) throw new AppError('not_found');
        for (const [name, value] of Object.entries(context.headers))
          if (!response.headers.has(name)) response.headers.set(name, value);
        return response;
      },
    }),
  ];
}

/** The colours of an application are worked out from its own, so that they may be cached for good. */
function styleResponse(style: string): Response {
  return new Response(style, {
    headers: {
      'Content-Type': 'text/css; charset=utf-8',
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
    },
  });
}
