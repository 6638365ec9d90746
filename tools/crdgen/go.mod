module onedoor/tools/crdgen

go 1.26.6

require go.yaml.in/yaml/v3 v3.0.6
