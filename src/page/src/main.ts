import { mount } from "svelte";
import App from "./App.svelte";
import "uplot/dist/uPlot.min.css";
import "./style.css";

const target = document.getElementById("page");
if (target) mount(App, { target });
