// The document that a report shows. The C++ side writes it; docs/reference/report-data.md states it.
export interface ReportDocument {
  schema: number;
  title: string;
}
