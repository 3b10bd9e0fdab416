import type { DocumentHistory } from "@income-events/cli/documents/document-history.ts";
import { useLoaded } from "../api.ts";
import { number } from "../format.ts";
import { Panel, Time } from "../parts/panel.tsx";
import { searchWord } from "../route.ts";
import { DocumentPanels } from "./document.tsx";
import type { DocumentName } from "./document-name.ts";

/** Where a version of a document is seen. */
export function documentPath(of: DocumentName): string {
  return `/records/document?${new URLSearchParams(of)}`;
}

export function DocumentPage() {
  const [dates, version] = [searchWord("dates"), searchWord("version")];
  const whose = { kind: searchWord("kind"), id: searchWord("id") };
  const of = { ...whose, endpoint: searchWord("endpoint"), version, ...(dates !== "" && { dates }) };
  const { data, error } = useLoaded<{ readonly documents: readonly DocumentHistory[] }>(
    `/api/documents?${new URLSearchParams(whose)}`,
  );
  const listed = data?.documents.find(
    (each) => each.endpoint === of.endpoint && (each.dates ?? "") === dates && each.subject.id === whose.id,
  );
  return (
    <>
      <Panel title={`${of.endpoint}${dates === "" ? "" : ` of ${dates}`}`} error={error}>
        <p>
          <a href={`/records?${new URLSearchParams(whose)}`}>
            {whose.kind} <span class="id">{whose.id}</span>
          </a>
        </p>
        {listed !== undefined && <Versions of={listed} version={version} />}
      </Panel>
      <DocumentPanels of={of} key={JSON.stringify(of)} />
    </>
  );
}

/** The versions of a document, each a link to what it holds. */
export function Versions({ of, version }: { readonly of: DocumentHistory; readonly version?: string }) {
  const { subject, endpoint, dates, isGone, asOf, versions } = of;
  return (
    <>
      <p class="quiet">
        {isGone ? "Removed at the provider" : "Last read"} <Time at={asOf} />
      </p>
      <ol
        class="plain-list"
        aria-label={`Versions of ${endpoint}${dates === undefined ? "" : ` of ${dates}`}`}
      >
        {versions.map(({ version: each, observedAt, supersededAt, bytes }) => (
          <li key={each}>
            <a
              href={documentPath({
                ...subject,
                endpoint,
                version: each,
                ...(dates !== undefined && { dates }),
              })}
              aria-current={each === version ? "page" : undefined}
            >
              <Time at={observedAt} />
            </a>{" "}
            {bytes !== undefined && `${number(bytes)} bytes`}
            {supersededAt === undefined ? (
              " · newest"
            ) : (
              <span class="quiet">
                {" "}
                until <Time at={supersededAt} />
              </span>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
