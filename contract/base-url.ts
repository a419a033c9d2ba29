/** Where a control plane is called: shared by whoever sends a step token there (WV-12). */

/** An `http://` or `https://` URL without credentials, query or fragment; undefined for anything else. */
export function parseBaseUrl(value: string): URL | undefined {
  const url = URL.parse(value);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return undefined;
  const bare = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return bare ? url : undefined;
}

/** Plain HTTP shows the token to the network: only to loopback, unless it is allowed. */
export function isAllowedUrl(url: URL, { allowHttp }: { readonly allowHttp: boolean }): boolean {
  return url.protocol === "https:" || allowHttp || isLoopback(url);
}

/** The URL of a path below the base, which may itself have a path. */
export function urlBelow(base: URL, path: string): string {
  return `${base.href.endsWith("/") ? base.href : `${base.href}/`}${path}`;
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
