import type { ReportDocument } from "./records";

const data = document.getElementById("dfrost-data")!.textContent!;
const report = JSON.parse(data) as ReportDocument;
const page = document.getElementById("page")!;
const heading = document.createElement("h1");
heading.textContent = report.title;
page.append(heading);
