import { AppError } from '../core/error.ts';
import { type Operation, operation } from '../http/operation.ts';
import { accentStyle } from './accent.ts';
import { assetResponse, findAsset } from './assets.ts';
import { type AccountPageDependencies, accountPageRoutes } from './account/route.tsx';
import { type AuthorizePageDependencies, authorizePageRoutes } from './authorize/route.tsx';
import { type DevicePageDependencies, devicePageRoute } from './device/route.tsx';
import { type DocsPageDependencies, docsPageRoutes } from './docs/route.tsx';
import { HOSTED_PAGE } from './hosted-page.ts';
import { type SetupPageDependencies, setupPageRoute } from './setup/route.tsx';
import { type SignInPageDependencies, signInPageRoute } from './sign-in/route.tsx';
import { type SignOutPageDependencies, signOutPageRoutes } from './sign-out/route.tsx';
import { type UndoPageDependencies, undoPageRoutes } from './undo/route.tsx';

export interface PageDependencies
  extends
    AccountPageDependencies,
    SignInPageDependencies,
    DevicePageDependencies,
    DocsPageDependencies,
    SetupPageDependencies,
    AuthorizePageDependencies,
    SignOutPageDependencies,
    UndoPageDependencies {}

export function pageRoutes(dependencies: PageDependencies): Operation[] {
  return [
    signInPageRoute(dependencies),
    setupPageRoute(dependencies),
    devicePageRoute(dependencies),
    ...accountPageRoutes(dependencies),
    ...undoPageRoutes(dependencies),
    ...authorizePageRoutes(dependencies),
    ...signOutPageRoutes(dependencies),
    ...docsPageRoutes(dependencies),
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
        const response = answerTo(path, context.request);
        if (!response) throw new AppError('not_found');
        for (const [name, value] of Object.entries(context.headers))
          if (!response.headers.has(name)) response.headers.set(name, value);
        return response;
      },
    }),
  ];
}

function answerTo(path: string, request: Request): Response | null {
  const asset = findAsset(path);
  if (asset) return assetResponse(request, asset);
  const style = accentStyle(path);
  return style ? styleResponse(style) : null;
}

/** Cached forever: the path contains the colour, and the style derives from it alone. */
function styleResponse(style: string): Response {
  return new Response(style, {
    headers: {
      'Content-Type': 'text/css; charset=utf-8',
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
    },
  });
}
