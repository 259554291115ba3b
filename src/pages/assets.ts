/** Serves the bundled assets of the pages, precompressed and read on demand; bundle.ts builds them. */

import { matchesEtag } from '../http/etag.ts';
import { generatedAssets, type GeneratedAsset } from './generated/assets.ts';

type Encoding = 'br' | 'gzip' | 'identity';

const assetsByPath = new Map(Object.values(generatedAssets).map((asset) => [asset.path, asset]));

/** Returns the path of an asset in this build. Throws for an unknown name, which is a bug in the page. */
export function assetUrl(name: string): string {
  const asset = Object.hasOwn(generatedAssets, name) ? generatedAssets[name] : undefined;
  if (!asset) throw new Error(`no asset is called ${name}; run "bun build.ts --pages"`);
  return asset.path;
}

export function findAsset(path: string): GeneratedAsset | undefined {
  return assetsByPath.get(path);
}

/** Answers GET; the app strips the body for HEAD. The name contains a content hash, so responses are immutable. */
export function assetResponse(request: Request, asset: GeneratedAsset): Response {
  const encoding = chooseEncoding(request.headers.get('accept-encoding'));
  // Each encoding is a representation with an ETag of its own (RFC 9110 §8.8.3).
  const etag = encoding === 'identity' ? asset.etag : asset.etag.replace(/"$/, `-${encoding}"`);
  const headers = new Headers({
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    ETag: etag,
    'X-Content-Type-Options': 'nosniff',
  });
  if (matchesEtag(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers });

  const file = Bun.file(encoding === 'br' ? asset.brotli : asset.gzip);
  headers.set('Content-Type', asset.contentType);
  if (encoding === 'identity')
    return new Response(file.stream().pipeThrough(new DecompressionStream('gzip')), { headers });
  headers.set('Content-Encoding', encoding);
  return new Response(file, { headers });
}

/** Chooses the smallest encoding allowed by Accept-Encoding (RFC 9110 §12.5.3); identity when in doubt. */
export function chooseEncoding(acceptEncoding: string | null): Encoding {
  const accepted = new Map<string, boolean>();
  for (const item of (acceptEncoding ?? '').slice(0, 500).toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim());
    accepted.set(coding, !parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter)));
  }
  const isAccepted = (coding: string) => accepted.get(coding) ?? accepted.get('*') ?? false;
  if (isAccepted('br')) return 'br';
  if (isAccepted('gzip') || accepted.get('x-gzip')) return 'gzip';
  return 'identity';
}
